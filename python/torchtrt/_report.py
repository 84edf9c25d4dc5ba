"""The report of a module that was loaded from a file: what torchtrt.report gives where compile() ran in another process. The record that
travels with a module has no times, so that equal modules have equal bytes; here they are 0."""

import dataclasses
import json


@dataclasses.dataclass(frozen=True)
class Step:
    name: str
    family: str
    location: str


@dataclasses.dataclass(frozen=True)
class Segment:
    index: str
    name: str
    target: str
    nodes: list[str]
    reasons: list[str]
    inputs: list[str]
    outputs: list[str]
    milliseconds: float
    memory_bytes: int
    steps: list[Step]


@dataclasses.dataclass(frozen=True)
class Node:
    node: str
    target: str
    code: str
    reason: str


@dataclasses.dataclass(frozen=True)
class Pin:
    pattern: str
    dtype: str
    nodes: int


class LoadedReport:
    def __init__(self, record: str, text: str):
        """`record` and `text` are the attributes torchtrt_report_json and torchtrt_report."""
        parts = json.loads(record)
        self._record = record
        self._text = text
        self.module = parts["module"]
        self.milliseconds = 0.0
        self.phases = []
        self.precision = [Pin(**pin) for pin in parts.get("precision", [])]
        self.nodes = [Node(**node) for node in parts["nodes"]]
        self.segments = [Segment(**{**each, "steps": [Step(**step) for step in each["steps"]]}) for each in parts["segments"]]

    def _count(self, target: str) -> int:
        return sum(segment.target == target for segment in self.segments)

    @property
    def engine_segments(self) -> int:
        return self._count("engine")

    @property
    def torch_segments(self) -> int:
        return self._count("torch")

    @property
    def share_in_engines(self) -> float:
        """Of the nodes that work; numbers and collections are copied to where they are needed."""
        working = [node.target for node in self.nodes if node.code != "carried"]
        return working.count("engine") / len(working) if working else 0.0

    def summary(self) -> str:
        return self._text.split("\n", 1)[0]

    def to_json(self) -> str:
        return self._record

    def __str__(self) -> str:
        return self._text
