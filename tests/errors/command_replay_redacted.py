"""A redacted record, which has no module to run."""

CODE = "C004"
EXIT = 1
SAYS = ["has no module", "it was redacted"]


def command(folder):
    (folder / "record").mkdir()
    (folder / "record/record.json").write_text("{}")
    return ["torchtrtc", "replay", folder / "record"]
