"""Only says that the wheel holds machine code; all else is in pyproject.toml. ./dev wheel collects the files."""

from setuptools import setup
from setuptools.dist import Distribution


class BinaryDistribution(Distribution):
    def has_ext_modules(self):
        return True


setup(distclass=BinaryDistribution)
