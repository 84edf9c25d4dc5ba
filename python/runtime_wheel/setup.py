"""Says that the wheel holds machine code, and puts torchtrt_runtime_names.pth beside the package. The rest is in pyproject.toml; ./dev wheel
collects the files."""

import pathlib

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution


class BinaryDistribution(Distribution):
    def has_ext_modules(self):
        return True


class BuildWithNames(build_py):
    """_torchtrt_runtime_names.py says which name, and why a .pth file."""

    def run(self):
        super().run()
        (pathlib.Path(self.build_lib) / "torchtrt_runtime_names.pth").write_text("import _torchtrt_runtime_names\n", encoding="utf-8")


setup(distclass=BinaryDistribution, cmdclass={"build_py": BuildWithNames})
