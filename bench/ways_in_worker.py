"""A process of ways_in.py, which measures one model: `ways_in_worker.py JSON`, with the fields of Asked. It tells its facts as it finds them, each
behind {"stage": what it begins}, so that they stay where a later stage crashes or takes too long; {"stage": "end"} is the last."""

import contextlib
import copy
import dataclasses
import fcntl
import json
import os
import sys
import time
import types

import talk

BATCHES = [2, 3, 5, 8]
ROUNDS = 15
TRIES = 3  # of timing, under load


@dataclasses.dataclass(frozen=True)
class Asked:
    model: str
    device: str
    cores: list[int]
    times: bool
    inductor: bool
    folder: str  # of all models of one run: what TorchInductor compiles, and a lock for those that time on a device that they share


class Watch:
    """The compiled modules and logged lines of the backend, while it is entered."""

    def __enter__(self):
        import torch

        import torchtrt
        from torchtrt import _backend

        self.reports, self.lines = [], []
        self._torchtrt, self._backend = torchtrt, _backend
        self._compile, self._log = torchtrt.compile, _backend.log
        torchtrt.compile, _backend.log = self._compiling, self.lines.append
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()
        return self

    def _compiling(self, *arguments, **options):
        module = self._compile(*arguments, **options)
        self.reports.append(self._torchtrt.report(module))
        return module

    def __exit__(self, *_):
        self._torchtrt.compile, self._backend.log = self._compile, self._log


def graphs() -> int:
    """Returns the number of graphs that TorchDynamo has compiled in this process, for any backend."""
    from torch._dynamo.utils import counters

    return counters["stats"]["unique_graphs"]


def breaks() -> int:
    from torch._dynamo.utils import counters

    return sum(counters["graph_break"].values())


def twin(module, way: str):
    """The same module, and a frame of its own for TorchDynamo. Else the second way's calls would look through the guards of the first, and what
    one has learned of sizes that vary would be known to the other."""
    kind = type(module)
    forward = kind.forward
    code = forward.__code__.replace(co_name=f"{forward.__code__.co_name}_{way}")
    own = types.FunctionType(code, forward.__globals__, forward.__name__, forward.__defaults__, forward.__closure__)
    own.__kwdefaults__ = forward.__kwdefaults__
    own.__dict__.update(forward.__dict__)
    result = copy.copy(module)
    result.__class__ = type(kind.__name__, (kind,), {"forward": own, "__module__": kind.__module__})
    return result


def scripts(module) -> bool:
    import torch

    try:
        torch.jit.script(module)
    except Exception:  # noqa: BLE001 - of whatever kind
        return False
    return True


def list_of(value):
    """Named tuples and classes of transformers as lists, tensors on the CPU."""
    if hasattr(value, "to_tuple"):
        return list_of(value.to_tuple())
    if isinstance(value, dict):
        return [list_of(each) for each in value.values()]
    if isinstance(value, (tuple, list)):
        return [list_of(each) for each in value]
    return value.cpu() if hasattr(value, "cpu") else value


def first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[0]}"


class Model:
    """The ways of calling one model, and what is known of them."""

    def __init__(self, asked: Asked, tell):
        import ways_in_models

        self.asked, self._tell = asked, tell
        module, arguments, named = ways_in_models.whole(asked.model)
        self._module = module.to(asked.device)
        self._arguments, self._named = ways_in_models.to((arguments, named), asked.device)
        self._of_batch = ways_in_models.of_batch
        self._ways = {"eager": self._module}
        self._expected = self._answer("eager")

    def warm(self) -> None:
        """All ways of compiling have loaded their code, and found their tools, before one is timed."""
        import torch

        def small(x):
            return x.sin() + 1

        x = torch.ones(8, 8, device=self.asked.device)
        torch.compile(small, backend="torchtrt", options={"progress": False})(x)
        if self.asked.inductor:
            torch.compile(small)(x)

    def _call(self, way: str, rows: int | None = None):
        import torch

        arguments, named = (self._arguments, self._named) if rows is None else self._of_batch((self._arguments, self._named), rows)
        result = self._ways[way](*arguments, **named)
        if self.asked.device != "cpu":
            torch.cuda.synchronize()
        return result

    def _answer(self, way: str, rows: int | None = None) -> list:
        import answers

        return answers.flat(list_of(self._call(way, rows)))

    def scripted(self) -> None:
        self._tell({"scripts": scripts(self._module)})

    def exported(self) -> None:
        import answers

        import torchtrt

        start = time.perf_counter()
        try:
            self._ways["export"] = torchtrt.compile(self._module, ir="export", input_signature=self._arguments or None, kwarg_inputs=self._named or None,
                                                    device=self.asked.device, progress=False)
        except torchtrt.CompileError as error:
            self._tell({"export": {"error": str(error)}})
            return
        seconds, report = time.perf_counter() - start, torchtrt.report(self._ways["export"])
        self._tell({"export": {"seconds": seconds, "engines": report.engine_segments, "torch_segments": report.torch_segments,
                               "share": report.share_in_engines, "difference": answers.difference(self._answer("export"), self._expected)}})

    def compiled(self, way: str, watch: Watch, **options) -> None:
        import answers
        import torch

        before = graphs(), breaks()
        self._ways[way] = torch.compile(twin(self._module, way), **options)
        start = time.perf_counter()
        self._call(way)
        facts = {"seconds": time.perf_counter() - start, "graphs": graphs() - before[0], "breaks": breaks() - before[1],
                 "difference": answers.difference(self._answer(way), self._expected)}
        if way == "torchtrt":
            counts = [sum(node.code != "carried" for node in report.nodes) for report in watch.reports]
            inside = sum(count * report.share_in_engines for count, report in zip(counts, watch.reports))
            facts |= {"engines": sum(report.engine_segments for report in watch.reports), "share": inside / max(1, sum(counts)),
                      "in_eager": facts["graphs"] - sum(report.engine_segments > 0 for report in watch.reports), "lines": list(watch.lines)}
        self._tell({way: facts})

    def timed(self) -> None:
        """On a quiet machine, as far as it can be had: a neighbour on one core of two makes operators that use both ten times slower."""
        import timing

        before, best = graphs(), None
        for _ in range(TRIES):
            timing.quiet()
            with held(f"{self.asked.folder}/lock") if self.asked.device != "cpu" else contextlib.nullcontext():
                load = timing.OthersLoad()
                times = timing.in_turn({way: lambda way=way: self._call(way) for way in self._ways}, rounds=ROUNDS)
                share = load.share()
            if best is None or share < best[0]:
                best = share, times
            if share <= timing.LOAD_LIMIT:
                break
        self._tell({"ms": {way: dataclasses.asdict(time) for way, time in best[1].items()}, "load": best[0], "compiled_while_timed": graphs() - before})

    def batches(self, way: str) -> None:
        """Graphs that each further size of the batch compiles, as TorchDynamo does it by itself: the second size makes the batch dynamic."""
        import answers

        compiled, seconds, worst = [], [], 0.0
        for rows in BATCHES:
            expected, before, start = self._answer("eager", rows), graphs(), time.perf_counter()
            found = self._answer(way, rows)
            seconds.append(time.perf_counter() - start)
            compiled.append(graphs() - before)
            worst = max(worst, answers.difference(found, expected))
        self._tell({f"{way} batches": {"compiled": compiled, "seconds": seconds, "difference": worst}})


@contextlib.contextmanager
def held(path: str):
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def prepare(asked: Asked) -> None:
    """Before torch is loaded: its pools, and TorchInductor's, are as large as this process may be."""
    os.sched_setaffinity(0, asked.cores)
    threads = str(len(asked.cores))
    os.environ.update({"OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads, "TORCHINDUCTOR_COMPILE_THREADS": threads,
                       "TORCHINDUCTOR_CACHE_DIR": f"{asked.folder}/inductor", "TRITON_CACHE_DIR": f"{asked.folder}/triton"})
    import logging

    import torch

    import torchtrt

    torch.set_num_threads(len(asked.cores))
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torchtrt.logging.set_reportable_log_level(torchtrt.logging.Level.Error)
    for library in ("torch._dynamo", "transformers"):
        logging.getLogger(library).setLevel(logging.ERROR)


def main(tell) -> None:
    asked = Asked(**json.loads(sys.argv[1]))
    tell({"stage": "loading"})
    prepare(asked)
    import torch

    with torch.no_grad():
        model = Model(asked, tell)
        model.warm()
        with Watch() as watch:
            stages = {"torch.compile": lambda: model.compiled("torchtrt", watch, backend="torchtrt", options={"progress": False}),
                      "Inductor": lambda: model.compiled("inductor", watch), "torch.export": model.exported, "torch.jit.script": model.scripted,
                      "timing": model.timed, "other batches": lambda: model.batches("torchtrt"),
                      "other batches of Inductor": lambda: model.batches("inductor")}
            for stage, run in stages.items():
                if ("Inductor" in stage and not asked.inductor) or (stage == "timing" and not asked.times):
                    continue
                tell({"stage": stage})
                try:
                    run()
                except Exception as error:  # noqa: BLE001 - what stops one way, the others are measured
                    tell({"failed": f"{stage}: {first_line(error)}"})
    tell({"stage": "end"})


if __name__ == "__main__":
    talk.run(main)
