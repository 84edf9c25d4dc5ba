"""A GPU as the processes of `./dev bench --device cuda` use it: its settings, its memory, and tensors there."""

import gc
import subprocess

import memory
from job import Job


def dtype_of(name: str):
    """The dtype of tensors for one of job.DTYPES."""
    import torch

    return torch.float32 if name == "tf32" else getattr(torch, name)


def moved(values, device: str, dtype):
    """The same nest of lists and tuples with its tensors on the device, floating ones in that dtype."""
    import torch

    if isinstance(values, torch.Tensor):
        return values.to(device, dtype if values.is_floating_point() else values.dtype)
    return type(values)(moved(value, device, dtype) for value in values) if isinstance(values, (list, tuple)) else values


def set_up(job: Job) -> None:
    """Makes the job's GPU the current one and allows TF32 or forbids it. PyTorch then starts cuBLAS and cuDNN: what they hold counts for no way."""
    import torch

    torch.cuda.set_device(job.device)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = job.dtype == "tf32"
    x = torch.ones(64, 64, device=job.device, dtype=dtype_of(job.dtype))
    torch.nn.functional.conv2d((x @ x).view(1, 64, 8, 8), x.view(64, 64, 1, 1))
    wait(job)


def wait(job: Job) -> None:
    """Waits until the GPU has done all that it was given. A CPU has done it when a call returns."""
    if job.is_on_gpu:
        import torch

        torch.cuda.synchronize(job.device)


class Memory:
    """Tells the GPU's memory in use, in bytes, by the functions of memory.py.

    The driver tells what all processes hold together, whichever library asked for it. A difference is this process's own if the others are idle
    meanwhile, and cell.py lets processes work in turn. NVML's figures of each process would need no turns. In containers they are often missing,
    or name other process ids.
    """

    def __init__(self, device: str):
        self._device = device

    def _used(self) -> int:
        import torch

        torch.cuda.synchronize(self._device)
        free, total = torch.cuda.mem_get_info(self._device)
        return total - free

    def settled(self) -> int:
        """Returns the bytes after PyTorch's allocator gave back what no tensor and no graph uses."""
        import torch

        gc.collect()
        torch.cuda.empty_cache()
        return self._used()

    def restart_peak(self) -> None:
        import torch

        torch.cuda.reset_peak_memory_stats(self._device)

    def peak(self) -> int:
        """Returns the most that PyTorch's allocator held since restart_peak(), with what is now used beside it. Other libraries seldom give
        memory back."""
        import torch

        beside = self._used() - torch.cuda.memory_reserved(self._device)
        return beside + torch.cuda.max_memory_reserved(self._device)


def memory_of(job: Job):
    """Returns what tells the memory that counts for the job: this module's Memory, or memory.py."""
    return Memory(job.device) if job.is_on_gpu else memory


def _driver() -> str:
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout.split()
    except (OSError, subprocess.SubprocessError):
        told = []
    return told[0] if told else "unknown"


def facts(job: Job) -> dict:
    """Returns names and versions that tell two GPUs apart, for kept.environment. Raises PyTorch's error if the GPU cannot be used."""
    import torch

    set_up(job)
    return {"gpu": torch.cuda.get_device_name(job.device), "driver": _driver(),
            "versions": {"CUDA": torch.version.cuda, "cuDNN": str(torch.backends.cudnn.version())}}
