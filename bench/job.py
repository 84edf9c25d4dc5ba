"""A job names the model, the way of running it, and the folder where its processes leave files for each other."""

import dataclasses
import json
import pathlib

import numpy


@dataclasses.dataclass(frozen=True)
class Job:
    way: str
    model: str
    batch: int
    threads: int
    folder: str  # of the model, batch and threads; all ways share it

    def file(self, name: str) -> str:
        return str(pathlib.Path(self.folder) / name)

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self))

    @staticmethod
    def from_json(text: str) -> "Job":
        return Job(**json.loads(text))

    def arrays(self) -> list[numpy.ndarray]:
        """The model's inputs one after the other, for ways without torch. Left by ways.make_model."""
        with numpy.load(self.file("inputs.npz")) as file:
            return [file[name] for name in file.files]
