"""Sizes of 0 and 1, which a trace with larger ones says nothing about: a module may treat them in another way (`if x.size(0) == 1`)."""

import copy

import torch
from torch.utils import _pytree as pytree

from torchtrt import _errors

_TOLERANCE = 1e-3  # two paths through a module differ by more, two orders of summation by less


def _leaves(module, positional, named) -> list | None:
    """Returns the leaves of the results, or None if the module raises."""
    positional, named = copy.deepcopy((positional, named))
    try:
        return pytree.tree_leaves(module(*positional, **named))
    except Exception:  # noqa: BLE001 - the module does not take these sizes
        return None


def _agree(ours, theirs) -> bool:
    if not isinstance(theirs, torch.Tensor):
        return ours == theirs
    if not isinstance(ours, torch.Tensor) or ours.shape != theirs.shape:
        return False
    if not theirs.is_floating_point() or not theirs.numel():
        return torch.equal(ours, theirs)
    return torch.allclose(ours, theirs, rtol=_TOLERANCE, atol=_TOLERANCE * float(theirs.abs().nan_to_num(0, 0, 0).max()), equal_nan=True)


def check(module, scripted, arguments, device, has_state: bool) -> None:
    """Compares the module and its exported form on the smallest sizes of the Inputs. Raises where they differ."""
    if not arguments.has_small_sizes():
        return
    positional, named = arguments.smallest(device)
    eager, exported = (copy.deepcopy(each) if has_state else each for each in (module, scripted))  # a run would change the state
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        state = torch.random.get_rng_state()
        theirs = _leaves(eager, positional, named)
        torch.random.set_rng_state(state)
        ours = _leaves(exported, positional, named)
    if theirs is None or (ours is not None and len(ours) == len(theirs) and all(map(_agree, ours, theirs))):
        return
    raise _errors.CompileError(
        "[C002] the module computes something else for the smallest sizes of its Inputs than for those that it was exported with\n"
        "  give minima of 2 and more, or script the module")
