"""env prints what a bug report needs, and no secrets."""

import json
import os

import torch

from test_torchtrtc import succeeds


def test_env_prints_and_gives_json():
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "TORCHTRT_MAX_ISA": "avx2", "MY_TOKEN": "not to be told"}
    text = succeeds("env", env=environment).stdout
    facts = json.loads(succeeds("env", "--json", env=environment).stdout)
    assert list(facts) == ["versions", "machine", "threads", "variables", "GPUs"]
    assert facts["versions"]["libtorch"] == torch.__version__.split("+")[0]
    assert facts["versions"]["torchtrt"] in text and facts["machine"]["processor"] in text
    assert facts["machine"]["cap of instruction sets"] == "avx2" and facts["threads"]["of libtorch, within operators"] == "2"
    assert facts["variables"]["OMP_NUM_THREADS"] == "2" and "MY_TOKEN" not in facts["variables"]
    assert "not to be told" not in text and os.uname().nodename not in facts["machine"]["system"].split()
    upper = text.split("\nthreads\n")[0]
    columns = {line.index(facts[group][name]) for group in ("versions", "machine") for name in facts[group] if facts[group][name]
               for line in upper.splitlines() if line.startswith(f"  {name}  ")}
    assert len(columns) == 1, text
