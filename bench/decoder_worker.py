"""A process of bench/decoder.py: `decoder_worker.py make|serve|reading JOB`, where JOB is JSON of model, way, file, capacity, position and
configuration.

`make` writes the step's file. `serve` loads it and answers {"threads": N, "tokens": K} by {"ms": a token}, {"score": FILE} by writing the
logits of seeded tokens there, and {} by its memory. `reading` answers {"threads": N} by the speed at which memory is read.
"""

import json
import os
import sys
import time

import memory
import talk

READ_BYTES = 1 << 30
SCORED = 32
GROUP = 64


def _torch():
    import torch

    torch.set_grad_enabled(False)
    return torch


def _model(job):
    import decoders

    return decoders.make(job["kind"], job["configuration"], spread=1)


def cache_way(way: str) -> str:
    """How a way keeps its cache (decoders.WAYS)."""
    return "cat" if way in ("int4-cat", "onnxruntime") else "in_place"


def _specification(torchtrt, torch, model, job, way):
    import decoders

    inputs = [torchtrt.Input([1, 1], dtype=torch.int64), torchtrt.Input([1], dtype=torch.int64)]
    for tensor in decoders.cache(model, job["capacity"]):
        shape = list(tensor.shape)
        opt = [*shape[:2], job["position"], shape[3]]
        inputs.append(torchtrt.Input(shape) if way == "in_place" else torchtrt.Input(
            min_shape=[*shape[:2], 0, shape[3]], opt_shape=opt, max_shape=shape, shared_dims={2: "past"}))
    return inputs


def _export(torch, model, job) -> None:
    """The step with a growing cache in ONNX, and its products with weights of 4 bits in the same groups as the engine's."""
    import decoders
    import integers

    step = decoders.Step(model, "cat")
    tensors = decoders.cache(model, 3)
    names = ["token", "position", *(f"past_{i}" for i in range(len(tensors)))]
    results = ["logits", *(f"present_{i}" for i in range(len(tensors)))]
    axes = {name: {2: "past"} for name in names[2:]}
    plain = job["file"] + ".plain"
    torch.onnx.export(step, (torch.zeros(1, 1, dtype=torch.int64), torch.tensor([3]), *tensors), plain, input_names=names,
                      output_names=results, dynamic_axes=axes, dynamo=False, opset_version=18)
    integers.to_weights_of_4_bits(plain, job["file"], GROUP, beside=True)


def make(job, tell) -> None:
    torch = _torch()
    import decoders

    model, way = _model(job), cache_way(job["way"])
    start = time.perf_counter()
    if job["way"] == "onnxruntime":
        _export(torch, model, job)
    elif job["way"] != "eager":
        import torchtrt

        form = {} if job["way"] == "float32" else {"weight_precision": "int4", "group_size": GROUP}
        step = decoders.traced(model, way, job["capacity"])
        compiled = torchtrt.compile(step, inputs=_specification(torchtrt, torch, model, job, way), check_results=False,
                                    require_full_compilation=True, **form)
        report = torchtrt.report(compiled)
        torch.jit.save(compiled, job["file"])
        tell({"make_seconds": time.perf_counter() - start, "segments": [report.engine_segments, report.torch_segments]})
        return
    tell({"make_seconds": time.perf_counter() - start})


class _Session:
    """ONNX Runtime's form of a step; its threads are chosen when it is made."""

    def __init__(self, torch, job):
        self._torch, self._file, self._threads, self._session = torch, job["file"], 0, None

    def __call__(self, token, position, *tensors):
        import onnxruntime

        if self._threads != self._torch.get_num_threads():
            self._threads, options = self._torch.get_num_threads(), onnxruntime.SessionOptions()
            options.intra_op_num_threads = self._threads
            self._session = onnxruntime.InferenceSession(self._file, options, providers=["CPUExecutionProvider"])
        names = [each.name for each in self._session.get_inputs()]
        given = [token, position, *tensors]
        return [self._torch.from_numpy(each) for each in self._session.run(
            None, {name: value.numpy() for name, value in zip(names, given, strict=True)})]


def _loaded(torch, job):
    import decoders

    if job["way"] == "eager":
        model = _model(job)
        return decoders.Step(model, "in_place"), model.config
    import transformers

    config = getattr(transformers, {"gpt2": "GPT2Config", "llama": "LlamaConfig"}[job["kind"]])(**job["configuration"])
    if job["way"] == "onnxruntime":
        return _Session(torch, job), config
    import torchtrt

    return torchtrt.load(job["file"]), config


def serve(job, tell) -> None:
    torch = _torch()
    import decoders

    bare = memory.settled()
    step, config = _loaded(torch, job)
    holder, way = type("Holder", (), {"config": config}), cache_way(job["way"])

    def generator(position):
        made = decoders.Generator(step, holder, way, job["capacity"])
        random = torch.Generator().manual_seed(1)
        made.position = position
        made.tensors = [torch.randn(tensor.shape, generator=random) for tensor in
                        decoders.cache(holder, position if way == "cat" else job["capacity"])]
        return made

    tell({"ready": True})
    for asked in talk.questions():
        if "tokens" in asked:
            torch.set_num_threads(asked["threads"])
            running = generator(job["position"])
            for token in range(2):
                running.feed(token)
            begin = time.perf_counter()
            for token in range(asked["tokens"]):
                running.feed(token)
            tell({"ms": (time.perf_counter() - begin) / asked["tokens"] * 1e3})
        elif "score" in asked:
            running = decoders.Generator(step, holder, way, job["capacity"])
            random = torch.Generator().manual_seed(2)
            tokens = torch.randint(config.vocab_size, (SCORED,), generator=random).tolist()
            torch.save(torch.stack([running.feed(token) for token in tokens]).clone(), asked["score"])
            tell({"scored": SCORED})
        else:
            tell({"resident_bytes": memory.settled() - bare})


def reading(job, tell) -> None:
    torch = _torch()
    numbers = torch.ones(READ_BYTES // 8, dtype=torch.int64)
    tell({"ready": True})
    for asked in talk.questions():
        torch.set_num_threads(asked["threads"])
        times = []
        for _ in range(4):
            begin = time.perf_counter()
            numbers.sum()
            times.append(time.perf_counter() - begin)
        tell({"gigabytes": READ_BYTES / min(times) / 1e9})


def main(tell) -> None:
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    {"make": make, "serve": serve, "reading": reading}[sys.argv[1]](json.loads(sys.argv[2]), tell)


if __name__ == "__main__":
    talk.run(main)
