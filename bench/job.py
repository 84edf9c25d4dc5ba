"""A cell names a model and what it is measured with. A job names a way of running it, too, and the folder where its processes leave files for
each other."""

import dataclasses
import json
import pathlib

import numpy

CPU = "cpu"
DTYPES = ("float32", "tf32", "float16", "bfloat16")  # tf32: float32 whose factors a GPU may round


@dataclasses.dataclass(frozen=True)
class Cell:
    model: str
    batch: int
    threads: int
    device: str = CPU  # or for example "cuda:0"
    dtype: str = "float32"  # one of DTYPES; this one on a CPU

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
