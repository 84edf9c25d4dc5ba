"""Several files of tests share this."""

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ["TORCHTRT_BUILD"])
ROOT = Path(__file__).parents[2]
PROJECTS = ("torchtrt", "torchtrt_runtime")


@pytest.fixture(scope="session")
def wheels(tmp_path_factory):
    """The wheels of this build by project. One process of a run makes them, and the others take the same files."""
    run = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        run = run.parent
    folder = run / "wheels"
    with open(run / "wheels.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            make_wheels(folder)
    return {project: next(folder.glob(f"{project}-*.whl")) for project in PROJECTS}


def make_wheels(folder: Path) -> None:
    preset, _, other_torch = BUILD.name.partition("-torch")
    command = [ROOT / "dev", "wheel", "--preset", preset, *(["--torch", other_torch] if other_torch else [])]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout + process.stderr
    folder.mkdir()
    for project in PROJECTS:
        newest = max((ROOT / "dist").glob(f"{project}-*.whl"), key=lambda path: path.stat().st_mtime)
        shutil.copy(newest, folder)
