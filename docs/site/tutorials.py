"""The tutorials in their order, from the table of their README, and what surrounds the run of one. Standard library only."""

import re

import contents

README = f"{contents.TUTORIALS}/README.md"
ORDER = re.findall(r"^\| \[[^\]]*\]\((\w+\.py)\)", contents.read(README), re.MULTILINE)


class Order:
    """Sorts programs as the table has them, for sphinx-gallery."""

    def __init__(self, _folder=""):
        pass

    def __call__(self, file: str) -> int:
        return ORDER.index(file)


def header() -> str:
    """The gallery's first page for sphinx-gallery: title and introduction of the README, whose table the gallery replaces."""
    title, introduction = re.match(r"# (.*)\n\n(.*?)\n\n", contents.read(README), re.DOTALL).groups()
    introduction = re.sub(r"`([^`]+)`", r"``\1``", introduction)
    return f"{title}\n{'=' * len(title)}\n\n{introduction}\n"


def reset(_configuration, _file) -> None:
    """Before each tutorial: the same random numbers, and no settings of the one before."""
    import torch

    torch.manual_seed(0)
    torch.set_num_threads(torch.get_num_threads())
