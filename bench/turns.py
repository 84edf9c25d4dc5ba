"""Times the processes that serve ways of running a model, in turn: a block of calls each in every round, the others asleep."""

import processes
import timing

LONG_SECONDS = 0.1  # calls that last longer need none before to be warm


def rounds_of(serving: dict[str, processes.Process], warm_seconds: dict[str, float], rounds: int, limit: float) -> tuple[dict, dict, float]:
    """Milliseconds a call, of every round, by name; the errors of those that failed, by name; and the others' load meanwhile. Those that
    fail are taken out of `serving`."""
    samples: dict[str, list[float]] = {name: [] for name in serving}
    errors: dict[str, str] = {}
    load = timing.OthersLoad([process.pid for process in serving.values()])
    for round_index in range(rounds):
        if not serving:
            break
        for name in timing.turned(list(serving), round_index):
            seconds = warm_seconds[name]
            try:
                answer = serving[name].ask({"calls": timing.calls_per_round(seconds), "warm": seconds < LONG_SECONDS}, limit)
            except processes.Failed as failure:
                errors[name] = str(failure)
                del serving[name], samples[name]
                continue
            samples[name].append(answer["ms"])
            serving[name].wait_until_idle()
    return samples, errors, load.share()
