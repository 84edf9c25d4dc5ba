"""Makes torch.compile know the backend "torchtrt" where no wheel's metadata does, and without importing TorchDynamo, which takes a second."""

import importlib.metadata
import importlib.util
import sys
from typing import Any

_REGISTRY = "torch._dynamo.backends.registry"
ENTRY = importlib.metadata.EntryPoint(name="torchtrt", value="torchtrt._backend:backend", group="torch_dynamo_backends")


def _register(registry) -> None:
    registry._BACKENDS.setdefault(ENTRY.name, ENTRY)


class _Finder:
    """Stands before all others until the registry is imported, and then goes."""

    @staticmethod
    def find_spec(name, path=None, target=None):  # noqa: ARG004 - the signature that importlib calls
        if name != _REGISTRY:
            return None
        sys.meta_path.remove(_Finder)
        spec = importlib.util.find_spec(name)
        loader: Any = spec and spec.loader  # of any kind
        if loader is None:
            return spec
        execute = loader.exec_module

        def exec_module(module):
            execute(module)
            _register(module)

        loader.exec_module = exec_module
        return spec


def announce() -> None:
    if _REGISTRY in sys.modules:
        _register(sys.modules[_REGISTRY])
    elif _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)
