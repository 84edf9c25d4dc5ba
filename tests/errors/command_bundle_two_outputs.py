"""Expected outputs of a module and of a file at once."""

CODE = "C003"
EXIT = 2
SAYS = ["--original and --outputs both give expected outputs", "give one of them"]


def command(folder):
    return ["torchtrtc", "bundle", folder / "relu.ts", folder / "tested.ts", "(2)", "--original", "x.ts", "--outputs", "y.pt"]
