"""A saved module whose tensor is cut, in an archive that is whole."""

import zipfile

import torch

CODE = "C004"
EXIT = 1
SAYS = ["cut.ts", "damaged module", "record 'data/0' has 28 bytes, expected 32", "save the module again"]


def command(folder):
    torch.jit.script(torch.nn.Linear(4, 2, bias=False).eval()).save(str(folder / "whole.ts"))
    with zipfile.ZipFile(folder / "whole.ts") as whole, zipfile.ZipFile(folder / "cut.ts", "w") as cut:
        for entry in whole.infolist():
            content = whole.read(entry)
            cut.writestr(entry.filename, content[:28] if entry.filename.endswith("/data/0") else content)
    return ["torchtrtc", folder / "cut.ts", folder / "out.ts", "(1,4)"]
