"""Several files of tests share this."""

import os
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ["TORCHTRT_BUILD"])
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def wheels():
    """The wheels of this build by project: torchtrt and torchtrt_runtime."""
    preset, _, other_torch = BUILD.name.partition("-torch")
    command = [ROOT / "dev", "wheel", "--preset", preset, *(["--torch", other_torch] if other_torch else [])]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout + process.stderr

    def newest(project: str) -> Path:
        return max((ROOT / "dist").glob(f"{project}-*.whl"), key=lambda path: path.stat().st_mtime)

    return {project: newest(project) for project in ("torchtrt", "torchtrt_runtime")}
