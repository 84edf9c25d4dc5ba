"""The device of an engine."""

import enum

import torch

from torchtrt import _errors


class DeviceType(str, enum.Enum):
    """Kinds of device, under the reference system's names; each equals its own text."""

    GPU = "gpu"
    DLA = "dla"
    CPU = "cpu"
    UNKNOWN = "auto"  # the device of the module's parameters


_NUMBERS = {DeviceType.GPU: 0, DeviceType.DLA: 1, DeviceType.CPU: 2, DeviceType.UNKNOWN: 3}
_TYPES = {**{each.value: each for each in DeviceType}, "cuda": DeviceType.GPU, "unknown": DeviceType.UNKNOWN}


class Device:
    """A device by name, "cpu", "gpu:0", "cuda:0", "dla:0", or by keyword; Device() is where the module's parameters are."""

    def __init__(self, spec=None, *, gpu_id: int = -1, dla_core: int = -1, allow_gpu_fallback: bool = False, device_type=None):
        text = spec if spec is not None else device_type
        if text is None:
            text = "dla" if dla_core >= 0 else "gpu" if gpu_id >= 0 else "auto"
        text = text.value if isinstance(text, DeviceType) else text
        name, _, number = str(text).partition(":")
        name = name.lower().rpartition(".")[2]
        if name not in _TYPES or not (number.isdigit() or number == ""):
            raise _errors.CompileError(f'[C003] there is no device "{text}"\n  use "cpu", "gpu:0", "cuda:0" or "dla:0"')
        self.device_type = _TYPES[name]
        self.gpu_id = int(number) if number and name != "dla" else max(gpu_id, 0)
        self.dla_core = int(number) if number and name == "dla" else max(dla_core, 0)
        self.allow_gpu_fallback = allow_gpu_fallback

    @classmethod
    def of(cls, value) -> "Device":
        """Makes a Device of a Device, a name, a torch.device, the reference's dictionary form, or None."""
        if value is None:
            return cls()
        if isinstance(value, cls):
            return value
        if isinstance(value, dict):
            if "device_type" not in value:
                raise _errors.CompileError('[C003] a device dictionary has no "device_type"\n  give {"device_type": "cpu"}')
            return cls(**value)
        return cls(str(value))

    @classmethod
    def _current_device(cls) -> "Device":
        """The current GPU where there is one, else the CPU."""
        return cls(f"cuda:{torch.cuda.current_device()}" if torch.cuda.is_available() else "cpu")

    @property
    def type_number(self) -> int:
        return _NUMBERS[self.device_type]

    def __repr__(self):
        numbers = {DeviceType.GPU: f":{self.gpu_id}", DeviceType.DLA: f":{self.dla_core}"}
        name = "" if self.device_type == DeviceType.UNKNOWN else f'"{self.device_type.value}{numbers.get(self.device_type, "")}"'
        fallback = "allow_gpu_fallback=True" if self.allow_gpu_fallback else ""
        return f"Device({', '.join(each for each in (name, fallback) if each)})"

    def __eq__(self, other):
        return isinstance(other, Device) and vars(self) == vars(other)

    def __hash__(self):
        return hash((self.device_type, self.gpu_id, self.dla_core, self.allow_gpu_fallback))
