"""A cell names a model and what it is measured with. A job names a way of running it, too, and the folder where its processes leave files for
each other."""

import dataclasses
import json
import pathlib

import numpy

CPU = "cpu"
# tf32: float32 whose factors a GPU may round. int8 and int4 are inside of engines on a CPU; int4 is of weights alone.
DTYPES = ("float32", "tf32", "float16", "bfloat16", "int8", "int4")
SHORT = {"f32": "float32", "f16": "float16", "bf16": "bfloat16", "i8": "int8", "w4": "int4"}


@dataclasses.dataclass(frozen=True)
class Cell:
    model: str
    batch: int
    threads: int
    device: str = CPU  # or for example "cuda:0"
    dtype: str = "float32"  # one of DTYPES

    @staticmethod
    def of_result(result: dict) -> "Cell":
        """The cell of what cell.measure gave, now or before there were GPUs."""
        return Cell(**{field.name: result[field.name] for field in dataclasses.fields(Cell) if field.name in result})


@dataclasses.dataclass(frozen=True)
class Job:
    way: str
    model: str
    batch: int
    threads: int
    folder: str  # of the cell; all ways share it
    device: str = CPU
    dtype: str = "float32"

    @property
    def is_on_gpu(self) -> bool:
        return self.device != CPU

    @property
    def in_float32(self) -> "Job":
        """The same in float32. Below float32 it has a folder of its own, within this one."""
        return self if self.dtype == "float32" else dataclasses.replace(self, dtype="float32", folder=self.file("float32"))

    def file(self, name: str) -> str:
        return str(pathlib.Path(self.folder) / name)

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self))

    @staticmethod
    def from_json(text: str) -> "Job":
        return Job(**json.loads(text))

    @staticmethod
    def of_cell(way: str, cell: Cell, folder: str) -> "Job":
        return Job(way, folder=folder, **dataclasses.asdict(cell))

    def arrays(self) -> list[numpy.ndarray]:
        """The model's inputs one after the other, for ways without torch. Left by ways.make_model on a CPU."""
        with numpy.load(self.file("inputs.npz")) as file:
            return [file[name] for name in file.files]
