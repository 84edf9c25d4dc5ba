"""Engines take most of a model's time. Convolutions, matmuls, attention and normalisations stay in PyTorch only where the user, a write or
control flow that depends on data keeps them there.

A few quick models of bench/catalog.py by default, all of them with `--all-models`; `./dev models` prints the same as a table.
"""

import catalog
import coverage
import fallback
import torchtrt

QUICK = [
    "lenet, scripted", "resnet18, traced", "shufflenet_v2_x0_5, scripted", "vision transformer, scripted", "lraspp, scripted",
    "bert, traced", "gpt2, traced", "gated reader, scripted", "lstm, scripted", "silero-vad",
    "transformer encoder, scripted",
]


def pytest_generate_tests(metafunc):
    if "model_name" in metafunc.fixturenames:
        names = list(catalog.CATALOG) if metafunc.config.getoption("--all-models") else QUICK
        metafunc.parametrize("model_name", names)


def test_heavy_nodes_are_in_engines(model_name):
    case = catalog.make(model_name)
    report = torchtrt.report(fallback.compile_case(case))
    assert any(coverage.HEAVY.search(node.node) for node in report.nodes if node.target == "engine")
    assert coverage.left_out(report) == []


def test_one_that_the_user_keeps_is_seen_and_excused():
    case = catalog.make("lenet, scripted")
    report = torchtrt.report(fallback.compile_case(case, torch_executed_ops=["aten::linear"], min_block_size=1))
    kept = [node for node in report.nodes if node.target != "engine" and coverage.HEAVY.search(node.node)]
    assert [node.code for node in kept] == ["torch-executed-op"] * len(kept) and kept
    assert coverage.left_out(report) == []


def test_one_without_an_excuse_is_seen():
    case = catalog.make("lenet, scripted")
    report = torchtrt.report(fallback.compile_case(case, min_block_size=100, torch_executed_ops=["aten::relu"]))
    assert {code for _, code, _ in coverage.left_out(report)} == {"min-block-size"}
