"""The layering script itself: what it lets pass and what it reports."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "check_layering.py"
spec = importlib.util.spec_from_file_location("check_layering", SCRIPT)
check_layering = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_layering)

FOLDERS = """
torchtrt_folder(base PUBLIC types)
torchtrt_folder(kernels DEPENDS base)
torchtrt_folder(plan DEPENDS base)
torchtrt_folder(lowering TORCH DEPENDS base)
torchtrt_folder(compiler TORCH DEPENDS base
                lowering)
"""


@pytest.fixture
def offences(tmp_path, monkeypatch):
    monkeypatch.setattr(check_layering, "ROOT", tmp_path)

    def check(folder, line):
        path = tmp_path / "source.cpp"
        path.write_text(line + "\n", encoding="utf-8")
        return list(check_layering.offences_in(path, folder, check_layering.Table(FOLDERS)))

    return check


@pytest.mark.parametrize(
    "folder, line",
    [
        ("kernels", '#include "base/check.h"'),
        ("kernels", '#include "torchtrt/types.h"'),
        ("cpu", "#include <oneapi/dnnl/dnnl.hpp>"),
        ("lowering", "#include <torch/script.h>"),
        ("lowering", '#include "torchtrt/options.h"'),
        ("compiler", '#include "lowering/lowering.h"'),
    ],
)
def test_allowed(offences, folder, line):
    assert offences(folder, line) == []


@pytest.mark.parametrize(
    "folder, line, reason",
    [
        ("base", '#include "kernels/kernel.h"', "base must not include kernels/kernel.h (of kernels)"),
        ("kernels", "#include <torch/script.h>", "kernels is on the engine side"),
        ("kernels", "#  include <c10/util/Half.h>", "kernels is on the engine side"),
        ("kernels", '#include "torchtrt/compile.h"', "(of compiler)"),
        ("plan", '#include "torchtrt/options.h"', "(of compiler)"),
        ("plan", "#include <oneapi/dnnl/dnnl.hpp>", "oneDNN is included in cpu only"),
        ("compiler", '#include "plan/plan_generated.h"', "plan's own"),
        ("lowering", "#include <ATen/cpu/vec/vec.h>", "instruction-set flags"),
    ],
)
def test_reported(offences, folder, line, reason):
    found = offences(folder, line)
    assert found and all("source.cpp" in offence for offence in found)
    assert any(reason in offence for offence in found)
