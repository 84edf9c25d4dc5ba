CODE = "C003"
EXIT = 2
SAYS = ['no command and no file "verfy"', "verify"]


def command(folder):
    return ["torchtrtc", "verfy", folder / "model.ts", folder / "compiled.ts", "(2)"]
