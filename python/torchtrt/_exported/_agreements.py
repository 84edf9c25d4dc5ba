"""Sizes that an operator needs to be equal, and that a trace does not compare: afterwards they are one symbol."""

import torch


def find(graph: torch.fx.Graph) -> None:
    """Attention over keys and values of caches, whose lengths come from two inputs."""
    for node in graph.find_nodes(op="call_function", target=torch.ops.aten.scaled_dot_product_attention.default):
        key, value = (each.meta["val"] for each in node.args[1:3])
        bool(key.shape[-2] == value.shape[-2])  # what is asked of symbols is noted in their environment
