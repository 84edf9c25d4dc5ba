"""Arguments of compile() that the reference system or its documents spell otherwise, as those that this package has."""

from torchtrt import _errors, _inputs

import torch

_FALLBACK = {"min_block_size": "min_block_size", "forced_fallback_ops": "torch_executed_ops", "forced_fallback_modules": "torch_executed_modules"}


def _reject(message: str, advice: str, code: str = "C003"):
    raise _errors.CompileError(f"[{code}] {message}\n  {advice}")


def translated(script, method: str, inputs, input_signature, options: dict) -> tuple:
    """Inputs, signature and options without arg_inputs, kwarg_inputs and torch_fallback."""
    options = dict(options)
    positional, named = options.pop("arg_inputs", None), options.pop("kwarg_inputs", None)
    if positional is not None:
        if inputs is not None:
            _reject("inputs and arg_inputs are both given", "give one of them: they are the same", "C002")
        inputs = positional
    if named:
        inputs, input_signature = _in_order(script, method, inputs, named)
    if "torch_fallback" in options:
        options = {**_of_fallback(options.pop("torch_fallback")), **options}
    return inputs, input_signature, options


def _of_fallback(settings) -> dict:
    """The dictionary {"enabled", "min_block_size", "forced_fallback_ops", "forced_fallback_modules"} of the documents."""
    if not isinstance(settings, dict) or not set(settings) <= {"enabled", *_FALLBACK}:
        _reject(f"option torch_fallback does not take {settings!r}",
                'give {"enabled": True, "min_block_size": 3, "forced_fallback_ops": ["aten::relu"], "forced_fallback_modules": []}')
    if not settings.get("enabled", False):  # off by default, as the documents say; the rest then says nothing
        return {"require_full_compilation": True}
    return {ours: settings[name] for name, ours in _FALLBACK.items() if name in settings}


def _in_order(script, method: str, inputs, named) -> tuple:
    """Returns named arguments as inputs if all are tensors, else as a signature."""
    if not isinstance(named, dict) or not isinstance(script, torch.jit.ScriptModule):
        _reject("kwarg_inputs are Inputs by the names of a method's arguments", 'for example kwarg_inputs={"x": torchtrt.Input([1, 3])}', "C002")
    arguments = script._c._get_method(method).schema.arguments[1:]
    given = [] if inputs is None else list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    unknown = set(named) - {each.name for each in arguments[len(given):]}
    if unknown:
        _reject(f"kwarg_inputs has {sorted(unknown)}, and {method} takes {[each.name for each in arguments[len(given):]]} beside inputs",
                "give every argument once", "C002")
    rest = arguments[len(given):]
    while rest and rest[-1].name not in named:
        rest.pop()
    missing = [each.name for each in rest if each.name not in named and not each.has_default_value()]
    if missing:
        _reject(f"neither inputs nor kwarg_inputs has {missing} of {method}", "give every argument that has no default", "C002")
    values = [*given, *(named.get(each.name, each.default_value if each.has_default_value() else None) for each in rest)]
    if all(isinstance(each, (_inputs.Input, torch.Tensor)) for each in values):
        return values, None
    return None, tuple(values)
