"""The report of a module that was loaded from a file: what torchtrt.report gives where compile() ran in another process. The record that
travels with a module has no times, so that equal modules have equal bytes; here they are 0."""

import dataclasses
import json

from torchtrt import _page


def _entry(of, parts):
    """Makes a dataclass of a record's entry. The record of another release may have fields that this one does not know."""
    return of(**{field.name: parts[field.name] for field in dataclasses.fields(of) if field.name in parts})


@dataclasses.dataclass(frozen=True)
class Step:
    name: str
    family: str
    location: str


@dataclasses.dataclass(frozen=True)
class Layer:
    name: str
    kind: str
    location: str
    is_quantized: bool
    reason: str
    error: float | None


@dataclasses.dataclass(frozen=True)
class Calibration:
    calls: int
    is_cached: bool
    reason: str
    error: float | None
    layers: list[Layer]
    precision: str = "int8"

    @property
    def quantized_layers(self) -> int:
        return sum(layer.is_quantized for layer in self.layers)

    @classmethod
    def of(cls, parts):
        """Reads a record's entry, which is None without calibration."""
        return parts and _entry(cls, {**parts, "layers": [_entry(Layer, layer) for layer in parts["layers"]]})


@dataclasses.dataclass(frozen=True)
class Timing:
    step: str
    family: str
    implementation: str
    by_rule: str
    microseconds: float
    by_rule_microseconds: float
    is_cached: bool


@dataclasses.dataclass(frozen=True)
class Segment:
    index: str
    name: str
    target: str
    nodes: list[str] = dataclasses.field(default_factory=list)
    reasons: list[str] = dataclasses.field(default_factory=list)
    inputs: list[str] = dataclasses.field(default_factory=list)
    outputs: list[str] = dataclasses.field(default_factory=list)
    milliseconds: float = 0.0
    memory_bytes: int = 0
    steps: list[Step] = dataclasses.field(default_factory=list)
    timings: list[Timing] = dataclasses.field(default_factory=list)
    invariant: list[Timing] = dataclasses.field(default_factory=list)
    calibration: Calibration | None = None

    @classmethod
    def of(cls, parts):
        """Reads a record's entry. Another release's entry may lack all behind its target."""
        steps = [_entry(Step, step) for step in parts.get("steps", [])]
        timings = [_entry(Timing, timing) for timing in parts.get("timings", [])]
        invariant = [_entry(Timing, timing) for timing in parts.get("invariant", [])]
        calibration = Calibration.of(parts.get("calibration"))
        return _entry(cls, {**parts, "steps": steps, "timings": timings, "invariant": invariant, "calibration": calibration})


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


@dataclasses.dataclass(frozen=True)
class GuessedSize:
    places: list[str]
    reason: str


class LoadedReport:
    to_html = _page.to_html
    _repr_html_ = _page._repr_html_

    def __init__(self, record: str, text: str, module):
        """`record` and `text` are the attributes torchtrt_report_json and torchtrt_report of the `module`."""
        parts = json.loads(record)
        self._module = module
        self._record = record
        self._text = text
        self.module = parts["module"]
        self.milliseconds = 0.0
        self.share_of_time = None
        self.phases: list = []
        self.precision = [_entry(Pin, pin) for pin in parts.get("precision", [])]
        self.guessed_sizes = [_entry(GuessedSize, size) for size in parts.get("guessed_sizes", [])]
        self.shared_dims = parts.get("shared_dims", "")
        self.nodes = [_entry(Node, node) for node in parts["nodes"]]
        self.segments = [Segment.of(each) for each in parts["segments"]]
        self.source_lines = parts.get("source_lines", {})

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
        """Returns the share of working nodes that run in engines, 0 to 1. Numbers and collections do not count: they are copied to where
        they are needed."""
        working = [node.target for node in self.nodes if node.code != "carried"]
        return working.count("engine") / len(working) if working else 0.0

    def summary(self) -> str:
        return self._text.split("\n", 1)[0]

    def to_json(self) -> str:
        return self._record

    def __repr__(self) -> str:
        return f"<torchtrt.Report: {self.summary()}>"

    def __str__(self) -> str:
        return self._text
