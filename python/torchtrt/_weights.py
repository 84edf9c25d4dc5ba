"""update_weights(): other weights for a compiled module, without another compile."""

import torch

from torchtrt import _compile, _libraries


def update_weights(compiled, weights, strict: bool = True) -> list[str]:
    """Gives a module that was compiled with refit=True, or loaded from its file, other weights.

    Compiles the weights to the same engines, compares the results with PyTorch's as compile() does, and then replaces all engines and
    tensors of the module at once. Calls in other threads go on: each has the old weights or the new ones, never both. Other methods than
    the compiled one must not run meanwhile. Copies of the module keep their weights.

    Args:
        compiled: the module.
        weights: a state_dict(), or a module that has one, with the names and shapes of the module that was compiled. Floating dtypes are
            cast to that module's; tensors may be on any device.
        strict: False takes a state_dict without some buffers, which stay as they were when the module was compiled, and ignores names that
            the module does not have. Parameters have to be there in any case, and buffers that are not persistent need not.

    Returns:
        The names of the buffers that stayed.

    Raises:
        CompileError: for a module that was compiled without refit, for weights that do not fit, and for values that the module would be
            compiled to other code for. The module is as it was then.
    """
    if not isinstance(compiled, torch.jit.ScriptModule):
        _compile._reject(f"update_weights expected a compiled ScriptModule, got {type(compiled).__name__}",
                         "give what torchtrt.compile returned, or what torch.jit.load made of its file", "C004")
    if isinstance(weights, torch.nn.Module):
        weights = weights.state_dict()
    if not hasattr(weights, "items"):
        _compile._reject(f"weights is a {type(weights).__name__}", "give a state_dict(), or a module that has one")
    weights = dict(weights)
    for name, value in weights.items():
        if not isinstance(name, str) or not isinstance(value, torch.Tensor):
            _compile._reject(f"weights has a {type(value).__name__} for {name!r}", "give tensors by the names of parameters and buffers")
    return _libraries.extension().update_weights(compiled._c, weights, bool(strict))
