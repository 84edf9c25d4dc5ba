"""Lets `import torchtrt.runtime` find the runtime wheel's copy, if the wheel with the compiler is not installed.

torchtrt_runtime_names.pth imports this whenever Python starts, so it imports nothing at the top that starting Python does not. The finder
stands behind all others: an installed torchtrt is found first, and no file of it is overwritten.
"""

import sys


class _Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):  # noqa: ARG004 - the signature that importlib calls
        if name != "torchtrt":
            return None
        import importlib.util
        import os

        folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torchtrt_runtime", "torchtrt")
        return importlib.util.spec_from_file_location(name, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder])


if _Finder not in sys.meta_path:
    sys.meta_path.append(_Finder)
