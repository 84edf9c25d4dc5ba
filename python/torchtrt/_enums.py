"""Element types, formats, capabilities and operations, under the reference system's names. Numbers are the C++ enumerations'."""

import enum

import torch

from torchtrt import _errors


def _invalid(message: str, advice: str) -> _errors.CompileError:
    return _errors.CompileError(f"[C002] {message}\n  {advice}")


class dtype(enum.IntEnum):  # noqa: N801 - the name users write
    """Element type of an input or of a precision. torch's dtypes are taken wherever one of these is."""

    int64 = 0
    float64 = 1
    float32 = 2
    float16 = 3
    int8 = 4
    int32 = 5
    bool = 6
    unknown = 7
    bfloat16 = 8
    uint8 = 9
    int16 = 10

    long = 0
    double = 1
    float = 2
    half = 3
    i64 = 0
    f64 = 1
    f32 = 2
    f16 = 3
    i8 = 4
    i32 = 5
    b = 6
    bf16 = 8
    u8 = 9

    @classmethod
    def of(cls, value) -> "dtype":
        """Makes a dtype of one of this enumeration or of torch; None is unknown."""
        if value is None:
            return cls.unknown
        if isinstance(value, cls):
            return value
        if isinstance(value, torch.dtype) and value in _FROM_TORCH:
            return _FROM_TORCH[value]
        if not isinstance(value, torch.dtype):
            raise _invalid(f"a dtype is one of torch's, got {value!r}", "for example torch.float32 or torch.half")
        raise _invalid(f"no engine computes with dtype {value!r}", "use float, double, half, bfloat16, an integer type or bool")

    def to_torch(self) -> torch.dtype:
        for torch_dtype, ours in _FROM_TORCH.items():
            if ours == self:
                return torch_dtype
        raise _invalid("the dtype is unknown", "give it")


_FROM_TORCH = {
    torch.int64: dtype.int64,
    torch.float64: dtype.float64,
    torch.float32: dtype.float32,
    torch.float16: dtype.float16,
    torch.int8: dtype.int8,
    torch.int32: dtype.int32,
    torch.bool: dtype.bool,
    torch.bfloat16: dtype.bfloat16,
    torch.uint8: dtype.uint8,
    torch.int16: dtype.int16,
}


class TensorFormat(enum.IntEnum):
    """The memory layout of an input. Engines read any layout, so this changes no result."""

    contiguous = 0
    channels_last = 1

    linear = 0  # the reference system's name

    @classmethod
    def of(cls, value) -> "TensorFormat":
        if isinstance(value, cls):
            return value
        known = {torch.contiguous_format: cls.contiguous, torch.channels_last: cls.channels_last}
        if isinstance(value, torch.memory_format) and value in known:
            return known[value]
        raise _invalid(f"no tensor format {value!r}", "use torch.contiguous_format or torch.channels_last")


memory_format = TensorFormat  # the reference system has both names


class EngineCapability(enum.IntEnum):
    """Kinds of engine in the reference system; there is one here."""

    STANDARD = 0
    SAFETY = 1
    DLA_STANDALONE = 2

    default = 0
    safe_gpu = 1
    safe_dla = 2


class ElementWiseOperation(str, enum.Enum):
    """`op` of an ELEMENTWISE layer."""

    SUM = "sum"
    SUB = "sub"
    PROD = "prod"
    DIV = "div"
    FLOOR_DIV = "floor_div"
    TRUNC_DIV = "trunc_div"
    MOD = "mod"
    FMOD = "fmod"
    POW = "pow"
    MAX = "max"
    MIN = "min"
    ATAN2 = "atan2"
    AND = "and"
    OR = "or"
    XOR = "xor"
    BITWISE_AND = "bitwise_and"
    BITWISE_OR = "bitwise_or"
    BITWISE_XOR = "bitwise_xor"
    EQUAL = "equal"
    NOT_EQUAL = "not_equal"
    LESS = "less"
    LESS_EQUAL = "less_equal"
    GREATER = "greater"
    GREATER_EQUAL = "greater_equal"
