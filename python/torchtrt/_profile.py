"""Where a module's time goes."""

from torchtrt import _errors, _libraries


def profile(module, inputs, calls: int = 20):
    """Times `module`, a ScriptModule that was compiled or not, on `inputs`, a list of the arguments of its forward: its engines step by step,
    in microseconds and against what the machine can do, and the operators that PyTorch runs beside them. Calls forward 2 * calls + 1
    times; print the result, or use its to_json()."""
    with _errors.translated_errors():
        return _libraries.extension().profile_module(module._c, tuple(inputs), calls)
