"""Decoders that make one token a call, with a key-value cache that the caller holds: what bench/decoder.py measures, and tests run.

Models are transformers' own, made from their configurations, with random weights. Three ways to keep the cache are here, as users write it:

- "cat": the past as arguments, and the past with the new keys and values as results. It grows by a token a call.
- "returned": tensors of all positions, into which the call writes with index_copy_, and which it returns.
- "in_place": the same without returning them.
"""

import os

import torch
from torch import nn

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # models are made from their configurations

WAYS = ("cat", "returned", "in_place")
GPT2 = {"vocab_size": 50257, "n_positions": 1024, "n_embd": 768, "n_layer": 12, "n_head": 12}
# The shape of Llama 3.2 1B, with 1.24 billion parameters.
LLAMA = {"vocab_size": 128256, "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16, "num_attention_heads": 32,
         "num_key_value_heads": 8, "head_dim": 64, "max_position_embeddings": 8192, "tie_word_embeddings": True}
SMALL_GPT2 = {"vocab_size": 199, "n_positions": 128, "n_embd": 64, "n_layer": 2, "n_head": 4, "tie_word_embeddings": False, "eos_token_id": 0,
              "bos_token_id": 0}
SMALL_LLAMA = {"vocab_size": 199, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 8,
               "num_key_value_heads": 2, "head_dim": 8, "max_position_embeddings": 128, "tie_word_embeddings": False}


def make(kind: str, configuration: dict, seed: int = 0, spread: float = 4) -> nn.Module:
    """GPT2LMHeadModel or LlamaForCausalLM with seeded random weights. Of small models, the default ones give logits next to each other, which any
    rounding would swap: `spread` multiplies them."""
    import transformers

    torch.manual_seed(seed)
    name = {"gpt2": "GPT2LMHeadModel", "llama": "LlamaForCausalLM"}[kind]
    config = getattr(transformers, {"gpt2": "GPT2Config", "llama": "LlamaConfig"}[kind])(**configuration)
    config._attn_implementation = "sdpa"
    model = getattr(transformers, name)(config).eval().requires_grad_(False)
    if spread != 1:
        for parameter in model.parameters():
            if parameter.dim() == 2:
                parameter.data.mul_(spread)
    return model


class _Layer:
    """A layer of the cache, in the form that transformers' models ask for."""

    is_sliding = False
    is_compileable = False

    def __init__(self, keys, values, position, way):
        self.keys, self.values, self.position, self.way = keys, values, position, way

    def update(self, keys, values, *_, **__):
        if self.way == "cat":
            self.keys, self.values = torch.cat([self.keys, keys], 2), torch.cat([self.values, values], 2)
        else:
            self.keys.index_copy_(2, self.position, keys)
            self.values.index_copy_(2, self.position, values)
        return self.keys, self.values


class _Cache:
    is_compileable = False

    def __init__(self, layers):
        self.layers = layers

    def update(self, keys, values, layer, *_, **__):
        return self.layers[layer].update(keys, values)

    def get_seq_length(self, *_):
        return 0


class Step(nn.Module):
    """Maps a token [1, 1], its position [1] and the cache (keys and values of each layer in turn) to logits [1, vocabulary]."""

    def __init__(self, model: nn.Module, way: str):
        super().__init__()
        self.model, self.way = model, way

    def forward(self, token, position, *tensors):
        layers = [_Layer(tensors[i], tensors[i + 1], position, self.way) for i in range(0, len(tensors), 2)]
        mask = None
        if self.way != "cat":
            mask = (torch.arange(tensors[0].shape[2]) <= position).view(1, 1, 1, -1)
        else:  # all of the past is seen
            mask = torch.ones(1, 1, 1, tensors[0].shape[2] + 1, dtype=torch.bool)
        logits = self.model(input_ids=token, position_ids=position.view(1, 1), past_key_values=_Cache(layers), attention_mask=mask,
                            use_cache=True).logits[:, -1]
        if self.way == "in_place":
            return logits
        return (logits, *(tensor for layer in layers for tensor in (layer.keys, layer.values)))


def cache(model: nn.Module, length: int, dtype=torch.float32) -> list[torch.Tensor]:
    """Zeros for the keys and values of each layer."""
    config = model.config
    heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
    width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    return [torch.zeros(1, heads, length, width, dtype=dtype) for _ in range(2 * config.num_hidden_layers)]


def traced(model: nn.Module, way: str, capacity: int) -> torch.jit.ScriptModule:
    """The step as TorchScript, for a cache of so many positions; of "cat", for a past of any length."""
    example = (torch.zeros(1, 1, dtype=torch.int64), torch.tensor([3]), *cache(model, 3 if way == "cat" else capacity))
    with torch.no_grad():
        return torch.jit.trace(Step(model, way).eval(), example, check_trace=False)


class Generator:
    """Calls a step for token after token, and holds the cache between."""

    def __init__(self, step, model: nn.Module, way: str, capacity: int):
        self.step, self.way, self.position = step, way, 0
        self.tensors = cache(model, 0 if way == "cat" else capacity)

    def feed(self, token: int) -> torch.Tensor:
        """Returns the logits [vocabulary] behind the token."""
        result = self.step(torch.tensor([[token]]), torch.tensor([self.position]), *self.tensors)
        self.position += 1
        if self.way == "in_place":
            return result[0]
        self.tensors = list(result[1:])
        return result[0][0]


def greedy(generator: Generator, first: int, count: int) -> tuple[list[int], torch.Tensor]:
    """The tokens that are likeliest one after the other, and all logits."""
    tokens, logits = [first], []
    for _ in range(count):
        logits.append(generator.feed(tokens[-1]))
        tokens.append(int(logits[-1].argmax()))
    return tokens[1:], torch.stack(logits)
