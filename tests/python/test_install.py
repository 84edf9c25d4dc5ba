"""An outside CMake project finds the five libraries after `cmake --install`, each with no more than it needs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import models

BUILD = Path(os.environ["TORCHTRT_BUILD"])
PROJECT = Path(__file__).parents[1] / "install"


def run(*command, **kwargs) -> str:
    process = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **kwargs)
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout


@pytest.fixture(scope="module")
def installed():
    """The prefix. At a fixed place, so that the compiler cache knows the outside project's files the second time."""
    prefix = BUILD / "install_test" / "prefix"
    run("cmake", "--install", BUILD, "--prefix", prefix)
    return prefix


@pytest.fixture(scope="module")
def project(installed):
    folder = BUILD / "install_test" / "build"
    run(
        "cmake",
        "-S",
        PROJECT,
        "-B",
        folder,
        "-G",
        "Ninja",
        f"-DCMAKE_PREFIX_PATH={installed}",
        "-DCMAKE_BUILD_TYPE=Debug",
        f"-DTORCHTRT_LIBTORCH={Path(torch.__file__).parent}",
        "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache",
    )
    run("ninja", "-C", folder)
    return folder


def needed(binary: Path) -> str:
    """All libraries that the loader would map for a binary."""
    return run("ldd", binary, env={**os.environ, "LD_LIBRARY_PATH": str(Path(torch.__file__).parent / "lib")})


def test_engine_alone_reports_bytes_that_are_no_plan(project):
    assert "plan" in run(project / "uses_engine")


def test_network_prints_without_libtorch(project):
    assert "relu" in run(project / "uses_network")


def test_runtime_stays_linked_where_unused_libraries_are_dropped(project):
    assert run(project / "uses_runtime") == "registered\n"


def test_what_the_compiler_makes_runs_with_the_runtime_alone(project, tmp_path):
    torch.jit.script(models.build("lenet")).save(str(tmp_path / "lenet.ts"))
    run(project / "uses_compiler", tmp_path / "lenet.ts", tmp_path / "compiled.ts")
    assert run(project / "uses_runtime", tmp_path / "compiled.ts") == "[1, 10]\n"


def test_runtime_brings_the_engine_but_not_the_compiler(project):
    libraries = needed(project / "uses_runtime")
    assert "libtorchtrt_runtime.so" in libraries and "libtorchtrt_engine.so" in libraries
    assert "libtorchtrt_network.so" not in libraries and "libtorchtrt.so" not in libraries


def test_vision_registers_torchvisions_operators_and_brings_nothing_of_ours(project):
    assert run(project / "uses_vision") == "registered\n"
    libraries = needed(project / "uses_vision")
    assert "libtorchtrt_vision.so" in libraries and "libtorchtrt_engine.so" not in libraries and "libpython" not in libraries


@pytest.mark.parametrize("name", ["libtorchtrt_engine.so", "libtorchtrt_network.so"])
def test_engine_side_needs_no_libtorch_and_finds_all_else(installed, name):
    libraries = needed(installed / "lib" / name)
    assert "libtorch_cpu" not in libraries and "libc10" not in libraries and "libpython" not in libraries
    assert "not found" not in libraries
    assert str(installed / "lib" / "libdnnl.so.3") in libraries


def test_installed_tool_starts(installed):
    assert "compile" in run(installed / "bin" / "torchtrtc", "--help").lower()


def test_manual_page_and_completion_are_installed(installed):
    share = installed / "share"
    assert (share / "man/man1/torchtrtc.1").read_text(encoding="utf-8").startswith(".TH TORCHTRTC 1 ")
    for file in ("bash-completion/completions/torchtrtc", "zsh/site-functions/_torchtrtc", "fish/vendor_completions.d/torchtrtc.fish"):
        assert "accuracy-target" in (share / file).read_text(encoding="utf-8")


def configured(folder, *settings):
    command = ["cmake", "-S", Path(__file__).parents[2], "-B", folder, "-G", "Ninja", "-DTORCHTRT_TESTS=OFF", *settings]
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)


def test_the_source_takes_libtorch_from_a_folder(tmp_path):
    """TORCHTRT_LIBTORCH, where the environment has oneDNN and no torch."""
    environment = Path(sys.prefix)
    for name in ("bin", "include"):
        (tmp_path / "venv" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "venv" / name).symlink_to(environment / name)
    (tmp_path / "venv" / "lib").mkdir()
    for library in (environment / "lib").glob("libdnnl*"):
        (tmp_path / "venv" / "lib" / library.name).symlink_to(library)
    without = configured(tmp_path / "without", f"-DTORCHTRT_VENV={tmp_path / 'venv'}")
    assert without.returncode != 0 and "set TORCHTRT_LIBTORCH to a folder" in " ".join(without.stderr.split())
    libtorch = Path(torch.__file__).parent.resolve()
    made = configured(tmp_path / "with", f"-DTORCHTRT_VENV={tmp_path / 'venv'}", f"-DTORCHTRT_LIBTORCH={libtorch}")
    assert made.returncode == 0, made.stderr
    assert f"{libtorch}/lib/libtorch_cpu.so" in (tmp_path / "with" / "build.ninja").read_text(encoding="utf-8")
