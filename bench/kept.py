"""The file that `./dev bench` keeps its results in, a cell at a time, so that a run that ended early can be taken up again.

A kept result counts only for the machine, the build and the versions that it was measured with.
"""

import hashlib
import importlib.metadata
import json
import os
import pathlib
import platform

from job import CPU, Cell

PACKAGES, GPU_PACKAGES = ("torch", "onnxruntime", "openvino"), ("torch", "triton", "onnxruntime", "onnxruntime-gpu")


def environment(device: str = CPU) -> dict:
    """Names the machine, the build and the versions of what is compared. gpu.facts has the rest for a GPU."""
    cpu = next((line.split(":")[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                if line.startswith("model name")), platform.machine())
    build = hashlib.sha256()
    for library in sorted(pathlib.Path(os.environ.get("TORCHTRT_BUILD", "."), "lib").glob("libtorchtrt*.so")):
        build.update(library.read_bytes())
    versions = {}
    for package in PACKAGES if device == CPU else GPU_PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {"cpu": cpu, "cores": os.cpu_count(), "build": build.hexdigest()[:12], "versions": versions}


class Kept:
    """The results in a file, by cell. A file that is not there is empty."""

    def __init__(self, file: str, of: dict):
        self._path, self._of = pathlib.Path(file), of
        self._results = json.loads(self._path.read_text(encoding="utf-8"))["results"] if self._path.exists() else []

    def find(self, cell: Cell, names: list[str], rounds: int) -> dict | None:
        """The cell's result that was measured here, in all these ways and at least so many rounds."""
        for result in self._results:
            if (Cell.of_result(result) == cell and result["environment"] == self._of
                    and result["rounds"] >= rounds and set(names) <= set(result["ways"])):
                return result
        return None

    def add(self, result: dict) -> None:
        """Replaces the result of the same cell. The file is replaced as a whole."""
        others = [each for each in self._results if Cell.of_result(each) != Cell.of_result(result)]
        self._results = [*others, result | {"environment": self._of}]
        self._path.parent.mkdir(parents=True, exist_ok=True)
        beside = self._path.with_name(self._path.name + ".new")
        beside.write_text(json.dumps({"results": self._results}, indent=1) + "\n", encoding="utf-8")
        os.replace(beside, self._path)
