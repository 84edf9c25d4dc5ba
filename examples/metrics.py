"""Serves what the engines of a process do as metrics: for Prometheus, and for OpenTelemetry's collector, which reads the same format.

    PYTHONPATH=build/release/python .venv/bin/python examples/metrics.py --port 9464
    curl localhost:9464/metrics

prometheus_client serves them where it is installed, else Python's own HTTP server does. A service of your own needs `metrics()` and one of
the two functions below it."""

import argparse
import http.server
import threading

import torch
from torch import nn

import torchtrt.runtime

# Name of the metric, of the counter, and a sentence.
METRICS = [
    ("torchtrt_calls", "calls", "Calls that an engine ran."),
    ("torchtrt_seconds", "seconds", "Time of these calls."),
    ("torchtrt_fallbacks", "fallbacks", "Calls that PyTorch ran in the place of an engine, which was not made for their inputs."),
    ("torchtrt_errors", "errors", "Calls that ended in an error."),
    ("torchtrt_new_shapes", "new_shapes", "Sets of shapes that an engine was prepared for during a call, which took longer."),
]


def metrics() -> list[tuple[str, str, dict[str, float]]]:
    """Name, meaning, and the value for each engine."""
    counters = torchtrt.runtime.counters()
    return [(name, meaning, {engine: counts[key] for engine, counts in counters.items()}) for name, key, meaning in METRICS]


def serve_with_prometheus_client(port: int) -> int:
    import prometheus_client
    from prometheus_client.core import CounterMetricFamily

    class Engines:
        def collect(self):
            for name, meaning, values in metrics():
                family = CounterMetricFamily(name, meaning, labels=["engine"])
                for engine, value in values.items():
                    family.add_metric([engine], value)
                yield family

    registry = prometheus_client.CollectorRegistry()
    registry.register(Engines())
    server, _ = prometheus_client.start_http_server(port, addr="127.0.0.1", registry=registry)
    return server.server_port


def text() -> str:
    """The text format of Prometheus, version 0.0.4."""
    lines = []
    for name, meaning, values in metrics():
        lines += [f"# HELP {name}_total {meaning}", f"# TYPE {name}_total counter"]
        for engine, value in values.items():
            label = engine.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            lines.append(f'{name}_total{{engine="{label}"}} {value}')
    return "\n".join(lines) + "\n"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = text().encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def serve_with_python(port: int) -> int:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


def serve(port: int) -> int:
    """Returns the port, which the system chooses where it is 0."""
    try:
        return serve_with_prometheus_client(port)
    except ImportError:
        return serve_with_python(port)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=9464)
    parser.add_argument("--calls", type=int, default=100, help="calls of the model that is measured")
    options = parser.parse_args()
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU()).eval()
    compiled = torchtrt.compile(torch.jit.script(model), inputs=[torchtrt.Input(min_shape=[1, 3, 16, 16], opt_shape=[2, 3, 16, 16],
                                                                                 max_shape=[4, 3, 16, 16])])
    with torch.inference_mode():
        for call in range(options.calls):
            compiled(torch.randn(1 + call % 4, 3, 16, 16))
        compiled(torch.randn(8, 3, 16, 16))  # more than the engine was made for: PyTorch runs it
    print(f"http://127.0.0.1:{serve(options.port)}/metrics", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
