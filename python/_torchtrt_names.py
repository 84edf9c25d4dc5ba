"""Lets `import torch_tensorrt` and `import trtorch` find torchtrt's packages of these names, if no installed package has them.

torchtrt_names.pth imports this whenever Python starts, so it imports nothing at the top that starting Python does not. The finder
stands behind all others: an installed torch_tensorrt is found first, and no file of it is overwritten.
"""

import sys

_NAMES = ("torch_tensorrt", "trtorch")


class _Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):  # noqa: ARG004 - the signature that importlib calls
        if name not in _NAMES:
            return None
        import importlib.util
        import os

        folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torchtrt", "_aliases", name)
        file = os.path.join(folder, "__init__.py")
        if not os.path.isfile(file):
            return None
        return importlib.util.spec_from_file_location(name, file, submodule_search_locations=[folder])


if _Finder not in sys.meta_path:
    sys.meta_path.append(_Finder)
