"""Time of one Python pattern over networks of growing size, beside torchtrt-bench-rewriting, which measures 20 in C++.

    PYTHONPATH=build/release/python python bench/rewriting/python_patterns.py [LAYERS...]
"""

import sys
import time

import torchtrt.functional as f
import torchtrt.network as trt
from torchtrt.graph_rewriting import PatternRewriter, RewritePatternManager


class AddBecomesSub(PatternRewriter):
    def __init__(self):
        super().__init__("add_becomes_sub", root_layer={trt.LayerType.ELEMENTWISE}, separate_match_rewrite=True)

    def match(self, layer):
        return layer.as_layer().op == trt.ElementWiseOperation.SUM

    def rewrite(self, layer):
        a, b = layer.get_inputs(0, 1)
        layer.get_outputs(0)[0].replace_all_uses_with(a - b)
        layer.mark_as_removed()


def chain(layers: int) -> trt.Network:
    """Blocks of ten layers, one of them a sum."""
    net = trt.Network("chain")
    with trt.net_guard(net):
        x = y = trt.Tensor(name="x", shape=(16, 64))
        while net.num_layers < layers:
            for _ in range(9):
                y = f.neg(y)
            y = y + x
        y.mark_output("y")
    return net


def main(sizes) -> None:
    print(f"{'layers':>10} {'rewrites':>10} {'building s':>12} {'rewriting s':>12} {'us a layer':>12}")
    for size in sizes:
        start = time.perf_counter()
        net = chain(size)
        built = time.perf_counter()
        manager = RewritePatternManager()
        manager.add(label="sub", pattern=AddBecomesSub())
        rewrites = sum(manager.rewrite(net).values())
        done = time.perf_counter()
        print(f"{size:>10} {rewrites:>10} {built - start:>12.2f} {done - built:>12.2f} {(done - built) * 1e6 / size:>12.2f}")


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or [10_000, 100_000])
