"""Random sets of operators kept in PyTorch, over models of every kind: whatever stays there, the answers are eager's.

One set for each of a few small models by default; `--fallback-seeds 20` runs that many for every model of bench/catalog.py, as
tests/python/fallback_fuzz.py does in processes of their own. A run in which no engine ran shows nothing: it is not counted.
"""

import catalog
import fallback_fuzz

QUICK = [
    "lenet, scripted", "squeezenet1_1, scripted", "vision transformer, scripted", "bert, traced", "llama, traced", "t5 encoder, traced",
    "gated reader, scripted",
]
ENOUGH = 0.5  # of the seeds must run engines


def pytest_generate_tests(metafunc):
    if "model_name" in metafunc.fixturenames:
        metafunc.parametrize("model_name", list(catalog.CATALOG) if metafunc.config.getoption("--fallback-seeds") else QUICK)


def test_random_operators_in_pytorch_change_nothing(model_name, request):
    tally = fallback_fuzz.run_model(model_name, request.config.getoption("--fallback-seeds") or 1)
    print(f"{model_name}: {tally}")
    assert not tally.failures, "\n".join(tally.failures)
    assert tally.ran_engines >= ENOUGH * tally.runs
