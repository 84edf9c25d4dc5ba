"""Where an engine runs."""

from torchtrt import _errors

_TYPES = {"gpu": 0, "cuda": 0, "dla": 1, "cpu": 2, "auto": 3}


class Device:
    """A device by name, "cpu", "gpu:0", "cuda:0", "dla:0", or by keyword; Device() is where the module's parameters are."""

    def __init__(self, spec=None, *, gpu_id: int = -1, dla_core: int = -1, allow_gpu_fallback: bool = False, device_type=None):
        text = spec if spec is not None else device_type
        if text is None:
            text = "dla" if dla_core >= 0 else "gpu" if gpu_id >= 0 else "auto"
        name, _, number = str(text).partition(":")
        name = name.lower().rpartition(".")[2]
        if name not in _TYPES or not (number.isdigit() or number == ""):
            raise _errors.CompileError(f'[C003] there is no device "{text}"\n  use "cpu", "gpu:0", "cuda:0" or "dla:0"')
        self.device_type = name
        self.gpu_id = int(number) if number and name != "dla" else max(gpu_id, 0)
        self.dla_core = int(number) if number and name == "dla" else max(dla_core, 0)
        self.allow_gpu_fallback = allow_gpu_fallback

    @classmethod
    def of(cls, value) -> "Device":
        """From a Device, a name, a torch.device, the reference's dictionary form, or None."""
        if value is None:
            return cls()
        if isinstance(value, cls):
            return value
        if isinstance(value, dict):
            if "device_type" not in value:
                raise _errors.CompileError('[C003] a device dictionary has no "device_type"\n  give {"device_type": "cpu"}')
            return cls(**value)
        return cls(str(value))

    @property
    def type_number(self) -> int:
        return _TYPES[self.device_type]

    def __repr__(self):
        return f'Device("{self.device_type}")'
