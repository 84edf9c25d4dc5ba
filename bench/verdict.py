"""Tells the fastest: the ratio of others' medians to the engine's, and the rule for a win. Pure arithmetic on a result of cell.measure."""

import dataclasses
import math
import statistics

import devices
import ways

WRONG = 1e-3  # whose answer is further from eager's, relative to the largest value, is not compared with
# The same on a GPU, from the answer in float64, and below float32 on a CPU; eager PyTorch's own difference twice is allowed, too.
ALLOWED = {"float32": 1e-4, "tf32": 1e-2, "float16": 2e-2, "bfloat16": 2e-2, "int8": 0.5, "int4": 0.5}


@dataclasses.dataclass(frozen=True)
class Ratio:
    """Holds the ratio of the best other median to the engine's; above 1 the engine is faster."""

    best: str
    value: float  # of medians
    lower: float  # quartiles of the rounds' ratios
    upper: float


def allowed(dtype: str, eager_difference: float) -> float:
    """The largest difference that a way may have in this dtype of job.DTYPES where eager PyTorch's is `eager_difference`, which is
    infinite if numbers overflow: then it excuses nothing."""
    return max(ALLOWED[dtype], 2 * eager_difference if math.isfinite(eager_difference) else 0.0)


def problem(facts: dict) -> str | None:
    """Why a way does not count: its error, or how far it is off. Figures of a GPU, or below float32, say how much is "allowed"."""
    if "error" in facts:
        return facts["error"]
    return None if facts["difference"] <= facts.get("allowed", WRONG) else f"its answer is off by {facts['difference']:.1g} of the largest value"


def others(names: list[str]) -> list[str]:
    """Those of `names` that are not torchtrt's."""
    return [name for name in names if name not in (ways.ENGINE, ways.FLOAT32)]


def ratio(result: dict, names: list[str]) -> Ratio | None:
    """Returns the ratio to the fastest of `names`, the engine left out. None if none of them, or not the engine, runs rightly."""
    facts = result["ways"]
    able = [name for name in names if name in facts and name != ways.ENGINE and not problem(facts[name])]
    if not able or problem(facts[ways.ENGINE]):
        return None
    best = min(able, key=lambda name: facts[name]["milliseconds"]["median"])
    engine = facts[ways.ENGINE]
    lower, _, upper = statistics.quantiles([a / b for a, b in zip(facts[best]["samples_ms"], engine["samples_ms"])], n=4)
    return Ratio(best, facts[best]["milliseconds"]["median"] / engine["milliseconds"]["median"], lower, upper)


def has_peers(result: dict, names: list[str]) -> bool:
    """True if enough other systems of `names` ran rightly for a win to count, or `names` has none."""
    facts, device = result["ways"], devices.of(result["device"])
    asked = [name for name in device.peers if name in names]
    return not asked or sum(name in facts and not problem(facts[name]) for name in asked) >= device.needed(result["dtype"])


def summary(results: list[dict], names: list[str]) -> str:
    """Wins over the best of `names`, and the faster way for each model, of results of one table."""
    ratios = {result["model"]: ratio(result, others(names)) for result in results}
    unfair = [result["model"] for result in results if ratios[result["model"]] and not has_peers(result, names)]
    able = {model: each for model, each in ratios.items() if each}
    won = [model for model, each in able.items() if each.value > 1 and model not in unfair]
    lines = [f"faster than the best of all others: {len(won)} of {len(results)} models"]
    if able:
        lines[0] += f"; geometric mean of the ratios {statistics.geometric_mean(each.value for each in able.values()):.2f}"
    lost = sorted((each.value, model, each.best) for model, each in able.items() if each.value <= 1)
    if lost:
        lines.append("slower: " + ", ".join(f"{model} {value:.2f} of {best}" for value, model, best in lost))
    if unfair:
        device = devices.of(results[0]["device"])
        dtype = results[0]["dtype"]
        known = [name for name in device.peers if name in device.names(dtype, device.peers)]
        lines.append(f"no win, for fewer than {device.needed(dtype)} of {', '.join(known)} run it: {', '.join(unfair)}")
    if len(able) < len(results):
        lines.append("not compared: " + ", ".join(model for model in ratios if model not in able))
    return "\n".join(lines)
