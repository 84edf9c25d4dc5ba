"""Compiled modules against eager ones: results, arguments and attributes, call after call, before and after saving."""

import copy
import io

import torch

import torchtrt

TOLERANCE = 1e-4
FELL_BACK = "PyTorch runs what an engine was not made for"  # what a call warns of that an engine does not take


def assert_same(actual, expected):
    """Structure, types, shapes and dtypes are the same; floating values within the tolerance."""
    # TorchScript makes a new class of a named tuple at every border.
    assert type(actual) is type(expected) or actual._fields == expected._fields
    if isinstance(expected, torch.Tensor):
        assert actual.shape == expected.shape and actual.dtype == expected.dtype
        if expected.is_floating_point() and expected.numel():
            assert (actual - expected).abs().max() <= TOLERANCE * expected.abs().max()
        else:
            assert torch.equal(actual, expected)
    elif isinstance(expected, dict):
        assert list(actual) == list(expected)
        for key in expected:
            assert_same(actual[key], expected[key])
    elif isinstance(expected, (tuple, list)):
        assert len(actual) == len(expected)
        for a, e in zip(actual, expected, strict=True):
            assert_same(a, e)
    else:
        assert actual == expected


def saved(module):
    buffer = io.BytesIO()
    torch.jit.save(module, buffer)
    buffer.seek(0)
    return torch.jit.load(buffer)


def bytes_of(module):
    buffer = io.BytesIO()
    torch.jit.save(module, buffer)
    return len(buffer.getvalue())


def assert_calls_are_same(module, calls, attributes=(), **options):
    """Compiles the module and gives the report. Calls follow each other, so that state is carried from one to the next."""
    original = torch.jit.script(module.eval())
    if "input_signature" not in options:
        options.setdefault("inputs", [x for x in calls[0] if isinstance(x, torch.Tensor)])
    compiled = torchtrt.compile(original, **options)
    for each in (compiled, saved(compiled)):
        reference = copy.deepcopy(original)
        for arguments in calls:
            ours, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
            with torch.no_grad():
                assert_same(each(*ours), reference(*theirs))
            assert_same(ours, theirs)
            for name in attributes:
                assert_same(getattr(each, name), getattr(reference, name))
    return torchtrt.report(compiled)
