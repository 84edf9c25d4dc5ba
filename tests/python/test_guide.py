"""The samples of docs/graph_rewriting.md run, in order, as one program."""

import re
import runpy
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "graph_rewriting.md"


def test_the_samples_run(tmp_path):
    samples = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(samples) == 5
    (tmp_path / "guide.py").write_text("\n".join(samples))
    runpy.run_path(str(tmp_path / "guide.py"))
