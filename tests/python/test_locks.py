"""pip installs the files that locks/ names and no others, and ./dev check refuses a lock that leaves something open."""

import hashlib
import importlib
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
licences = importlib.import_module("dev.licences")
locks = importlib.import_module("dev.locks")
machine = importlib.import_module("dev.machine")
common = importlib.import_module("dev.common")


@pytest.fixture
def copy(tmp_path):
    """A folder with the requirements and the locks of the repository."""
    for source in ROOT.glob("requirements*.txt"):
        shutil.copy(source, tmp_path)
    shutil.copytree(ROOT / "locks", tmp_path / "locks")
    return tmp_path


def change(file: pathlib.Path, pattern: str, replacement: str) -> int:
    """Replaces the first match in a file. Returns the number of its line."""
    text = file.read_text(encoding="utf-8")
    changed, count = re.subn(pattern, replacement, text, count=1, flags=re.MULTILINE)
    assert count == 1
    file.write_text(changed, encoding="utf-8")
    return text[: re.search(pattern, text, re.MULTILINE).start()].count("\n") + 1


def test_every_file_that_is_installed_has_a_hash_and_a_licence_that_is_allowed(copy):
    assert locks.problems(copy) == []
    names = {path.name for path in (copy / "locks").iterdir()}
    assert {"torch-2.8.txt", "torch-2.11.txt", "torch-2.15.txt", "models.txt", "peers.txt", "checks.txt", "browser.txt", "integrations.txt", "docs.txt"} <= names


def test_a_line_without_hash_is_refused_with_its_place(copy):
    line = change(copy / "locks" / "models.txt", r"^(timm==\S+) \S+", r"\1")
    (problem,) = locks.problems(copy)
    assert problem.startswith(f"locks/models.txt:{line}: expected NAME==VERSION --hash=sha256:HASH  # LICENCE, got 'timm==")


@pytest.mark.parametrize("line", ["torch @ https://example.org/torch.whl", "--index-url https://example.org/simple", "torch>=2", "-r other.txt"])
def test_a_lock_holds_nothing_else(copy, line):
    with open(copy / "locks" / "peers.txt", "a", encoding="utf-8") as file:
        file.write(line + "\n")
    (problem,) = locks.problems(copy)
    assert problem.startswith("locks/peers.txt:") and line in problem


def test_another_version_than_the_lock_has_is_refused(copy):
    change(copy / "requirements-checks.txt", r"^ruff==.*$", "ruff==0.1.0")
    (problem,) = locks.problems(copy)
    assert re.fullmatch(r"locks/checks\.txt has ruff \S+, expected 0\.1\.0 of requirements-checks\.txt: run \./dev lock", problem)


def test_requirements_have_exact_versions(copy):
    line = change(copy / "requirements-docs.txt", r"^furo==.*$", "furo>=2025")
    assert f"requirements-docs.txt:{line}: expected NAME==VERSION, got 'furo>=2025'" in locks.problems(copy)


def test_requirements_without_lock_and_locks_without_requirements_are_refused(copy):
    (copy / "requirements-more.txt").write_text("six==1.17.0\n")
    (copy / "locks" / "browser.txt").rename(copy / "locks" / "old.txt")
    assert locks.problems(copy) == [
        "requirements-more.txt has no lock: name it in scripts/dev/locks.py", "locks/old.txt belongs to no requirements: remove it",
        "locks/browser.txt is missing: run ./dev lock"]


def test_a_licence_that_is_not_on_the_list_is_refused_with_its_place(copy):
    line = change(copy / "locks" / "models.txt", r"^(tqdm==.*  # ).*$", r"\1AGPL-3.0-only")
    assert locks.problems(copy) == [
        f"locks/models.txt:{line}: tqdm has the licence AGPL-3.0-only, which is not on the list of scripts/dev/licences.py: see whether it may be used, "
        "or take another package"]


@pytest.mark.parametrize(("metadata", "expression"), [
    ({"license_expression": "MIT AND PSF-2.0", "license": "other"}, "MIT AND PSF-2.0"),
    ({"classifier": ["License :: OSI Approved :: ISC License (ISCL)"]}, "ISC"),
    ({"classifier": ["License :: OSI Approved :: MIT License", "License :: OSI Approved :: BSD License"]}, "unknown"),
    ({"license": "Apache 2.0"}, "Apache-2.0"),
    ({"license": "BSD-2-Clause"}, "BSD-2-Clause"),
    ({"license": "see the file"}, "unknown"),
    ({}, "unknown"),
])
def test_the_licence_of_metadata(metadata, expression):
    assert licences.of("some-package", metadata) == expression


@pytest.mark.parametrize(("name", "expression", "is_allowed"), [
    ("a", "MIT", True), ("a", "GPL-3.0-only OR MIT", True), ("a", "GPL-3.0-only AND MIT", False), ("a", "unknown", False),
    ("codespell", "GPL-2.0-only", True), ("a", "GPL-2.0-only", False), ("nvidia-cublas", "LicenseRef-NVIDIA-Proprietary", True),
    ("a", "LicenseRef-NVIDIA-Proprietary", False)])
def test_which_licences_are_allowed(name, expression, is_allowed):
    assert (licences.problem(name, expression) == "") == is_allowed


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    folder = tmp_path_factory.mktemp("environment")
    machine.start_venv(folder)
    return folder


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The hash of a package, in the only place where pip looks for files."""
    metadata = "Metadata-Version: 2.1\nName: sample\nVersion: 1.0\nRequires-Dist: another\n"
    wheel = tmp_path / "sample-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("sample.py", "")
        archive.writestr("sample-1.0.dist-info/METADATA", metadata)
        archive.writestr("sample-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("sample-1.0.dist-info/RECORD", "")
    for name, value in {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(machine, "CACHE", tmp_path / "logs")
    return hashlib.sha256(wheel.read_bytes()).hexdigest()


def lock_with(folder: pathlib.Path, line: str):
    (folder / "lock.txt").write_text(line + "\n")
    return locks.Lock(folder / "lock.txt", "requirements-sample.txt", "sample==1.0\n")


def test_pip_refuses_a_file_with_another_hash(environment, files, tmp_path):
    wrong = hashlib.sha256(b"another file").hexdigest()
    with pytest.raises(common.Failure, match=r"DO NOT MATCH THE HASHES[\s\S]*Expected sha256 " + wrong + r"\s+Got\s+" + files):
        machine.pip_install(environment, lock_with(tmp_path, f"sample==1.0 --hash=sha256:{wrong}  # MIT"))
    with pytest.raises(common.Failure, match="Hashes are required"):
        machine.pip_install(environment, lock_with(tmp_path, "sample==1.0"))
    assert not list(machine.site_packages(environment).glob("sample*"))


def test_pip_installs_a_file_with_its_hash_and_nothing_beside(environment, files, tmp_path):
    machine.pip_install(environment, lock_with(tmp_path, f"sample==1.0 --hash=sha256:{files}  # MIT"))
    shown = subprocess.run([environment / "bin" / "python", "-m", "pip", "list", "--format=freeze"], capture_output=True, text=True, check=True).stdout
    assert "sample==1.0" in shown and "another" not in shown


def test_a_file_from_elsewhere_is_not_locked():
    entry = {"metadata": {"name": "sample", "version": "1.0"}, "download_info": {"url": "file:///wheels/sample.whl", "archive_info": {}}}
    with pytest.raises(common.Failure, match=r"expected sample from files\.pythonhosted\.org, got file:///wheels/sample\.whl"):
        locks.locked_line(entry)


def test_locks_are_for_one_interpreter(monkeypatch):
    monkeypatch.setattr(locks, "PYTHON", (3, 7))
    with pytest.raises(common.Failure, match=r"locks/ has files for Python 3\.7, got 3\.\d+: run \./dev with python3\.7"):
        locks.checked(locks.named_lock("checks"))
