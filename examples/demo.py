"""`./dev demo`: train, compile, save, load elsewhere, compare, time; on real digits and real photographs.

LeNet is trained for a few seconds on scikit-learn's digits and keeps its accuracy when compiled. EfficientNet-Lite0 (its real
ImageNet weights) and ResNet-50 (seeded, scripted and traced) look at two photographs: in PyTorch, compiled here, and in a separate
C++ process that links nothing of ours but libtorchtrt_runtime.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

import torch

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))

import models  # noqa: E402
import table  # noqa: E402
import timing  # noqa: E402

TOLERANCE = 1e-4  # of the largest reference value: what float32 models are held to


def step(text: str) -> None:
    print(f"\n== {text}", flush=True)


def accuracy(module, images: torch.Tensor, labels: torch.Tensor) -> float:
    return (module(images).argmax(1) == labels).float().mean().item()


def relative_difference(actual: torch.Tensor, expected: torch.Tensor) -> float:
    return ((actual - expected).abs().max() / expected.abs().max()).item()


def run_in_cpp(runner: pathlib.Path, saved: pathlib.Path, x: torch.Tensor, folder: pathlib.Path) -> torch.Tensor:
    """The saved module's answer from a C++ process that has the runtime library alone."""
    inputs, outputs = folder / "inputs.pt", folder / "outputs.pt"
    torch.save([x], inputs)
    subprocess.run([runner, saved, inputs, outputs], check=True, stdout=subprocess.DEVNULL)
    return torch.load(outputs)[0]


def demo_lenet(epochs: int) -> list[str]:
    import torchtrt

    step("LeNet on scikit-learn's digits")
    module, _, (images, labels) = models.trained_lenet(
        epochs, lambda epoch, loss: print(f"\r   epoch {epoch}, loss {loss:.4f}", end="", flush=True))
    print()
    script = torch.jit.script(module)
    single = images[:1].contiguous()
    start = time.perf_counter()
    compiled = torchtrt.compile(script, inputs=[torchtrt.Input(min_shape=[1, 1, 32, 32], opt_shape=[1, 1, 32, 32],
                                                               max_shape=[len(images), 1, 32, 32])])
    build = time.perf_counter() - start
    before, after = accuracy(script, images, labels), accuracy(compiled, images, labels)
    print(f"   accuracy on {len(labels)} held-out digits: {before:.4f} in PyTorch, {after:.4f} compiled")
    if before != after:
        raise SystemExit("the compiled LeNet does not classify as PyTorch's does")
    difference = relative_difference(compiled(images), module(images))
    return row("LeNet, scripted", script, compiled, single, build, difference)


def row(name: str, script, compiled, x: torch.Tensor, build: float, difference: float) -> list[str]:
    import torchtrt

    with torch.inference_mode():
        optimized = torch.jit.optimize_for_inference(torch.jit.freeze(script.eval()))
        load = timing.quiet()
        ms = timing.in_turn({"script": lambda: script(x), "optimized": lambda: optimized(x), "engine": lambda: compiled(x)})
    if load > timing.LOAD_LIMIT:
        print(f"   the machine is busy ({load:.0%}): these timings are rough")
    best = min(ms["script"].median, ms["optimized"].median)
    return [name, str(torchtrt.report(compiled).engine_segments), f"{build:.2f}", f"{ms['script'].median:.3f}",
            f"{ms['optimized'].median:.3f}", f"{ms['engine'].median:.3f}", f"{best / ms['engine'].median:.2f}x", f"{difference:.1e}"]


def demo_photographs(name: str, model: str, script_it, runner: pathlib.Path) -> list[str]:
    import torchtrt
    import torchvision

    step(name)
    categories = torchvision.models.ResNet50_Weights.DEFAULT.meta["categories"]
    module = models.build(model)
    script = script_it(module)
    start = time.perf_counter()
    compiled = torchtrt.compile(script, inputs=[torchtrt.Input([1, 3, 224, 224])])
    build = time.perf_counter() - start
    worst = 0.0
    with tempfile.TemporaryDirectory() as temporary, torch.inference_mode():
        folder = pathlib.Path(temporary)
        saved = folder / "compiled.ts"
        compiled.save(str(saved))
        for picture, x in models.photographs().items():
            expected = module(x)
            answers = {"compiled": compiled(x), "C++ process": run_in_cpp(runner, saved, x, folder)}
            top = expected.topk(5).indices[0]
            if models.MODELS[model].trained:
                shares = expected.softmax(1)[0]
                print(f"   {picture}: " + ", ".join(f"{categories[i]} {shares[i]:.0%}" for i in top[:3]))
            for where, answer in answers.items():
                difference = relative_difference(answer, expected)
                worst = max(worst, difference)
                same = torch.equal(answer.topk(5).indices[0], top)
                print(f"   {picture}, {where}: top-5 {'the same' if same else 'DIFFERS'}, largest difference {difference:.1e}")
                if not same or difference > TOLERANCE:
                    raise SystemExit(f"{name} answers differently in the {where}")
    return row(name, script, compiled, x, build, worst)


def main() -> None:
    parser = argparse.ArgumentParser(prog="./dev demo", description=__doc__)
    parser.add_argument("--training-epochs", type=int, default=30)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    options = parser.parse_args()
    torch.set_num_threads(timing.threads_available())
    runner = options.build / "bin" / "runtime_runner"

    def trace(module):
        return torch.jit.trace(module, torch.zeros(1, 3, 224, 224), check_trace=False)

    rows = [
        demo_lenet(options.training_epochs),
        demo_photographs("EfficientNet-Lite0, traced", "efficientnet_lite0", trace, runner),
        demo_photographs("ResNet-50, scripted", "resnet50", torch.jit.script, runner),
        demo_photographs("ResNet-50, traced", "resnet50", trace, runner),
    ]
    step(f"in turn, {torch.get_num_threads()} threads, batch 1, medians in milliseconds")
    print(table.render(["model", "engine segments", "build s", "TorchScript", "optimize_for_inference", "engine", "speed-up",
                        "largest rel. difference"], rows))


if __name__ == "__main__":
    main()
