"""Makes untrained networks give answers that differ, so that wrong ones are seen (docs/verification.md)."""

import torch
from torch import nn


def settle(module: nn.Module, *arguments, parts=None) -> nn.Module:
    """Eval mode, after batch-norm statistics from two training-mode runs of the module, or of a part of it."""
    norms = [m for m in module.modules() if isinstance(m, nn.modules.batchnorm._BatchNorm)]
    momenta = [norm.momentum for norm in norms]
    for norm in norms:
        norm.momentum = None  # the plain average of the batches, not one that starts from the default statistics
    module.train()
    with torch.no_grad():
        for _ in range(2 if norms else 0):
            (parts or module)(*[torch.randn_like(argument) for argument in arguments])
    for norm, momentum in zip(norms, momenta):
        norm.momentum = momentum
    return module.eval()


def spread_heads(module: nn.Module, pictures: list[torch.Tensor]) -> None:
    """Scales all layers but the backbone's so that their results spread: as they are made, all boxes get one score."""
    def spread(layer, given, result):
        if layer in done or result.numel() < 2:
            return result
        done.add(layer)
        factor = (0.3 if layer in boxes else 1.0) / result.std().clamp_min(1e-12)
        layer.weight.mul_(factor)
        return result * factor

    done, boxes, hooks = set(), set(), []
    for name, layer in module.named_modules():
        if isinstance(layer, (nn.Conv2d, nn.Linear)) and not name.startswith("backbone."):
            if "bbox" in name or "regression" in name:
                boxes.add(layer)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
            hooks.append(layer.register_forward_hook(spread))
    with torch.no_grad():
        module(pictures)
    for hook in hooks:
        hook.remove()
