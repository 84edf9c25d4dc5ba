"""Lets processes of the benchmark that have this folder on PYTHONPATH take "cpu:0" for a GPU: tensors are on the CPU, a captured graph gives its
answer again, and the GPU has 2 GB in use."""

import contextlib

import torch


class Stream:
    def wait_stream(self, other) -> None:
        pass


class Graph:
    def replay(self) -> None:
        pass


torch.cuda.set_device = torch.cuda.synchronize = torch.cuda.reset_peak_memory_stats = lambda device: None
torch.cuda.empty_cache = lambda: None
torch.cuda.mem_get_info = lambda device: (10**9, 3 * 10**9)
torch.cuda.memory_reserved = lambda device: 1_000_000
torch.cuda.max_memory_reserved = lambda device: 4_000_000
torch.cuda.get_device_name = lambda device: "a GPU that is none"
torch.cuda.Stream = torch.cuda.current_stream = Stream
torch.cuda.stream = lambda stream: contextlib.nullcontext()
torch.cuda.CUDAGraph = Graph
torch.cuda.graph = lambda graph: contextlib.nullcontext()
