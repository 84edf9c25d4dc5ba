"""Compiled modules in Ray: actors of Ray Data, and a deployment of Ray Serve.

    from torchtrt.integrations.ray import Predictor, deployment

    dataset.map_batches(Predictor, fn_constructor_args=["compiled.ts"], compute=ray.data.ActorPoolStrategy(size=2), num_cpus=2, batch_size=64)
    serve.run(deployment("compiled.ts", ray_actor_options={"num_cpus": 2}))

Workers need `pip install torchtrt-runtime` (or torchtrt) and the file under one path. They load it in the time that reading it takes, and
compile nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import numpy

from torchtrt import _errors
from torchtrt.integrations import _loading

try:
    import ray
except ImportError as error:
    raise _loading.needed("Ray", "ray") from error

__all__ = ["Predictor", "deployment"]

MOST_TOGETHER = 256  # requests in a batch where neither caller nor module says fewer


def _granted() -> dict:
    """Threads and device as Ray gives them to the actor that asks."""
    context = ray.get_runtime_context() if ray.is_initialized() else None
    resources = context.get_assigned_resources() if context and context.worker.mode == ray.WORKER_MODE else {}
    granted = {"threads": max(1, int(resources["CPU"]))} if "CPU" in resources else {}
    return {**granted, "device": "cuda:0"} if resources.get("GPU") else granted


class _Rows:
    """Arrays by name to the module's results by name."""

    def __init__(self, path, inputs: Mapping[str, str] | None, outputs: Sequence[str] | None, options: dict):
        self.model = _loading.Model(path, **{**_granted(), **options})
        self.inputs, self.outputs = dict(inputs or {}), outputs

    def arguments(self, batch: Mapping) -> list[numpy.ndarray]:
        columns = [self.inputs.get(name, name) for name in self.model.load().names]
        if len(columns) == 1 and len(batch) == 1 and not self.inputs:
            columns = list(batch)  # there is no doubt which is meant
        missing = [column for column in columns if column not in batch]
        if missing:
            _loading.reject(f"the batch has no column {', '.join(missing)}; it has {', '.join(batch)}",
                    f"name the columns of {', '.join(self.model.names)} by inputs={{argument: column}}")
        return [numpy.asarray(batch[column]) for column in columns]

    def named(self, results: list) -> dict:
        names = self.outputs or (["output"] if len(results) == 1 else [f"output_{i}" for i in range(len(results))])
        if len(names) != len(results):
            _loading.reject(f"outputs names {len(names)} results, and forward has {len(results)}", "give one name for each")
        return dict(zip(names, results))


class Predictor:
    """A callable class for `ray.data.Dataset.map_batches`: a batch of columns as numpy arrays to the results of the module's `forward`.

    path: the compiled file, for every worker the same. inputs: {argument of forward: column}, where these are not named alike. outputs: the
    columns of the results, by default `output`, or `output_0`, `output_1`, ... keep: columns of the batch that stay.
    options: threads, device and share_weights; by default threads are the actor's num_cpus, and an actor with num_gpus runs on its GPU.

    Batches may be larger or smaller than what the module was compiled for. CompileError where other sizes do not fit, or a column is missing.
    """

    def __init__(self, path, inputs: Mapping[str, str] | None = None, outputs: Sequence[str] | None = None, keep: Sequence[str] = (), **options):
        self._rows = _Rows(path, inputs, outputs, options)
        self._keep = list(keep)

    def __call__(self, batch: Mapping[str, numpy.ndarray]) -> dict[str, numpy.ndarray]:
        results = self._rows.named(self._rows.model(self._rows.arguments(batch)))
        return {**{column: batch[column] for column in self._keep}, **results}


def deployment(path, *, inputs: Mapping[str, str] | None = None, outputs: Sequence[str] | None = None, max_batch_size: int | None = None,
               batch_wait_timeout_s: float = 0.005, threads: int | None = None, device: str | None = None, **options):
    """An application for `ray.serve.run`. A request is one row: a mapping of arguments to arrays without the dimension of rows, from a handle,
    or as JSON by HTTP. Requests that come within `batch_wait_timeout_s` run in one call, at most `max_batch_size` together, by default as many
    as the module takes. A request that does not fit fails alone. The response is the mapping of results, as lists by HTTP.

    options: those of `ray.serve.deployment`, such as num_replicas and ray_actor_options.
    """
    from ray import serve

    # Ray gives a replica five requests at a time by default: no batch would have more.
    options.setdefault("max_ongoing_requests", 2 * (max_batch_size or MOST_TOGETHER))
    own = {name: value for name, value in (("threads", threads), ("device", device)) if value is not None}

    class Served:
        def __init__(self):
            self._rows = _Rows(path, inputs, outputs, own)
            most = self._rows.model.rows[1]
            self._predict.set_max_batch_size(min(max_batch_size or MOST_TOGETHER, most))
            self._predict.set_batch_wait_timeout_s(batch_wait_timeout_s)

        @serve.batch
        async def _predict(self, requests: list) -> list:
            # Rows of one shape run together.
            groups: dict = {}
            for number, request in enumerate(requests):
                groups.setdefault(tuple((row.shape, row.dtype.str) for row in request), []).append(number)
            responses: list = [None] * len(requests)
            for numbers in groups.values():
                rows = [numpy.stack(arrays) for arrays in zip(*(requests[number] for number in numbers))]
                results = await asyncio.get_running_loop().run_in_executor(None, self._rows.model, rows)
                for place, number in enumerate(numbers):
                    responses[number] = self._rows.named([result[place] for result in results])
            return responses

        def _row(self, values: Mapping) -> list[numpy.ndarray]:
            row = self._rows.arguments(values)
            self._rows.model.check([array[None] for array in row])
            return row

        async def __call__(self, request):
            from starlette.requests import Request
            from starlette.responses import JSONResponse

            if not isinstance(request, Request):  # which is a Mapping, too
                return await self._predict(self._row(request))

            try:
                values = await request.json()
                row = self._row({name: numpy.asarray(value, self._rows.model.dtype_of(self._argument(name))) for name, value in values.items()})
            except (ValueError, AttributeError, _errors.CompileError) as error:
                return JSONResponse({"error": str(error)}, status_code=400)
            return JSONResponse({name: numpy.asarray(value).tolist() for name, value in (await self._predict(row)).items()})

        def _argument(self, column: str) -> str:
            by_column = {each: name for name, each in self._rows.inputs.items()}
            names = self._rows.model.names
            return by_column.get(column, column if column in names or len(names) > 1 else names[0])

    return serve.deployment(**{"name": "CompiledModule", **options})(Served).bind()
