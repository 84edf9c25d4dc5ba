"""A record whose outputs are another engine's."""

import torch

CODE = "C004"
EXIT = 1
SAYS = ["outputs.pt", "holds 2 tensors, expected 1 for the engine of the record", "copy the record again"]


def command(folder):
    import torchtrt

    compiled = torchtrt.compile(torch.jit.script(torch.nn.Hardswish().eval()), inputs=[torchtrt.Input([3])], min_block_size=1)
    (folder / "record").mkdir()
    (folder / "record/record.json").write_text("{}")
    compiled.save(str(folder / "record/module.ts"))
    torch.save((torch.ones(3),), folder / "record/inputs.pt")
    torch.save((torch.ones(3), torch.ones(3)), folder / "record/outputs.pt")
    return ["torchtrtc", "replay", folder / "record"]
