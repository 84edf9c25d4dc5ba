"""A replay of a folder that the recorder did not write."""

CODE = "C004"
EXIT = 1
SAYS = ["there is no record in", "name a folder that TORCHTRT_RECORD wrote"]


def command(folder):
    (folder / "empty").mkdir()
    return ["torchtrtc", "replay", folder / "empty"]
