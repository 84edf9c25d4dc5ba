"""Random sets of operators kept in PyTorch, over models of every kind: whatever stays there, the answers are eager's.

One set for each of a few small models by default; `--fallback-seeds 20` runs that many for every model of bench/catalog.py. A run in
which no engine ran shows nothing: it is not counted.
"""

import pytest

import catalog
import fallback

QUICK = [
    "lenet, scripted", "squeezenet1_1, scripted", "vision transformer, scripted", "bert, traced", "llama, traced", "t5 encoder, traced",
    "gated reader, scripted",
]
ENOUGH = 0.5  # of the seeds must run engines


def pytest_generate_tests(metafunc):
    if "model_name" in metafunc.fixturenames:
        metafunc.parametrize("model_name", list(catalog.CATALOG) if metafunc.config.getoption("--fallback-seeds") else QUICK)


def test_random_operators_in_pytorch_change_nothing(model_name, request):
    seeds = request.config.getoption("--fallback-seeds") or 1
    ran = 0
    for seed in range(seeds):
        case = catalog.make(model_name)
        operators = fallback.chosen_operators(case.script, seed)
        worst, engine_ran = fallback.compare(case, fallback.compile_case(case, torch_executed_ops=operators))
        assert worst <= fallback.tolerance(case), f"seed {seed}, torch_executed_ops={operators}"
        ran += engine_ran
    print(f"{model_name}: engines ran in {ran} of {seeds}")
    assert ran >= ENOUGH * seeds
