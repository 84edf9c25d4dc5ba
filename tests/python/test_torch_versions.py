"""./dev handles other releases of torch, wheels have a platform tag, and Python reports a torch that does not fit."""

import importlib
import pathlib
import re
import subprocess
import sys

import pytest

from torchtrt import _torch_fit

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
torch_versions = importlib.import_module("dev.torch_versions")
manylinux = importlib.import_module("dev.manylinux")
building = importlib.import_module("dev.building")
common = importlib.import_module("dev.common")


def test_the_pinned_release_takes_the_requirements_as_they_are():
    assert torch_versions.requirements(torch_versions.pinned()) == (ROOT / "requirements.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("version", torch_versions.OTHERS)
def test_another_release_changes_the_packages_that_go_with_torch_alone(version):
    pinned, other = (torch_versions.requirements(each).splitlines() for each in (torch_versions.pinned(), version))
    changed = {line.split("==")[0] for line, before in zip(other, pinned) if line != before}
    assert len(pinned) == len(other) and f"torch=={version}" in other and changed == {"torch", "torchvision", "triton"}


@pytest.mark.parametrize(("asked", "version"), [("2.8", "2.8.0"), ("2.8.0", "2.8.0"), ("2.15", "2.15.0"), (torch_versions.pinned(), torch_versions.pinned())])
def test_releases_have_short_names(asked, version):
    assert torch_versions.full(asked) == version


def test_an_unknown_release_is_refused_with_those_that_are_known():
    with pytest.raises(common.Failure, match=r"torch 2\.7 is not among .*: 2\.8\.0, 2\.11\.0, 2\.15\.0"):
        torch_versions.full("2.7")


def test_another_release_is_built_in_a_folder_of_its_own(monkeypatch):
    pinned = building.build_folder("release")
    monkeypatch.setattr(common.Environment, "torch", "2.8.0")
    other = building.build_folder("release")
    assert pinned.name == "release" and other.name == "release-torch2.8" and other.parent == pinned.parent
    # oneDNN stays where it is, so the compiler cache knows the files that do not include libtorch.
    assert any(each.startswith("-DTORCHTRT_ONEDNN_ROOT=") for each in building.configuration("release"))


@pytest.mark.parametrize(("version", "minor"), [
    ("GLIBC_2.34", 34), ("GLIBC_2.2.5", 2), ("GLIBCXX_3.4.30", 35), ("GLIBCXX_3.4.29", 34), ("GLIBCXX_3.4", 17), ("CXXABI_1.3.13", 34), ("GCC_3.0", 17),
    ("GOMP_4.0", 0), ("HWY_0", 0)])
def test_the_glibc_of_a_symbol_version(version, minor):
    assert manylinux.glibc_minor(version) == minor


@pytest.mark.parametrize("version", ["GLIBC_PRIVATE", "GLIBC_ABI_DT_RELR", "GLIBCXX_3.4.99"])
def test_a_symbol_version_that_no_system_is_sure_to_have(version):
    with pytest.raises(common.Failure, match=version):
        manylinux.glibc_minor(version)


@pytest.fixture
def library(tmp_path):
    """Makes a shared library of C code."""

    def make(name: str, code: str, *arguments):
        source = tmp_path / f"{name}.c"
        source.write_text(code)
        subprocess.run(["cc", "-shared", "-fPIC", source, "-o", tmp_path / name, f"-Wl,-soname,{name}", *arguments], check=True)
        return tmp_path / name

    return make


def test_the_tag_follows_what_the_binaries_ask_for(library):
    plain = library("libplain.so", "int one(void) { return 1; }\n")
    # pthread_create is a function of libc itself from glibc 2.34 on.
    threads = library("libthreads.so", "#include <pthread.h>\nvoid* start(void* a) { pthread_t t; return (void*)(long)pthread_create(&t, 0, start, a); }\n")
    assert manylinux.platform_tag([plain]).startswith("manylinux_2_17_")
    newest = max(int(minor) for minor in re.findall(r"GLIBC_2\.(\d+)\b", subprocess.run(["objdump", "-T", threads], capture_output=True, text=True,
                                                                                     check=True).stdout))
    assert manylinux.platform_tag([plain, threads]).startswith(f"manylinux_2_{max(newest, 17)}_")


def test_a_library_that_systems_may_lack_is_refused(library):
    other = library("libother.so", "int two(void) { return 2; }\n")
    user = library("libuser.so", "int two(void); int three(void) { return two() + 1; }\n", other)
    with pytest.raises(common.Failure, match=r"libuser\.so needs libother\.so"):
        manylinux.platform_tag([user])
    assert manylinux.platform_tag([user, other]).startswith("manylinux_2_17_")


@pytest.mark.parametrize("found", ["2.11.0", "2.11.1", "2.11.0+cpu", "2.11.0a0+git1234"])
def test_patch_releases_fit(tmp_path, found):
    (tmp_path / "versions").write_text("0.1.0 2.11.0\n")
    assert _torch_fit.problem(found, tmp_path / "versions") == ""


def test_another_minor_release_does_not_fit(tmp_path):
    (tmp_path / "versions").write_text("0.1.0 2.11.0\n")
    assert _torch_fit.problem("2.15.0+cu132", tmp_path / "versions") == (
        'torchtrt 0.1.0 was built for torch 2.11, found 2.15: pip install "torch==2.11.*", or the wheel torchtrt 0.1.0+pt215')


def test_libraries_from_elsewhere_are_not_judged(tmp_path):
    assert _torch_fit.problem("2.15.0", tmp_path / "none") == ""


def test_the_build_names_the_torch_that_runs_here():
    import torch

    ours, built_for = _torch_fit.VERSIONS.read_text(encoding="utf-8").split()
    assert built_for == torch.__version__.partition("+")[0] and ours.count(".") == 2
