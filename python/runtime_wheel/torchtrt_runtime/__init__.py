"""Loads and runs modules that torchtrt compiled. `import torchtrt.runtime` is the same; this name also works in folders where Python reads
no .pth file, as those of `pip install --target`."""

import _torchtrt_runtime_names  # noqa: F401
from torchtrt.runtime import *  # noqa: F403
from torchtrt.runtime import __all__  # noqa: F401
