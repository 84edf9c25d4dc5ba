"""A file that is no archive."""

CODE = "C004"
EXIT = 1
SAYS = ["garbage.ts", "is text, expected a TorchScript module", "torch.jit.save"]


def command(folder):
    (folder / "garbage.ts").write_bytes(b"garbage" * 100)
    return ["torchtrtc", folder / "garbage.ts", folder / "out.ts", "(2)"]
