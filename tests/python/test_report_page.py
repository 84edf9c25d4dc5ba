"""The page of a report: its parts, its escaping, what it says of bad input, and the files it is written to."""

import json
import re

import pytest
import torch
from torch import nn

import torchtrt
from nets import Mixed, Unsupported, lenet
from test_torchtrtc import LENET_INPUT, succeeds, torchtrtc


def part(html: str, name: str):
    """The content of one part of the page's data."""
    return json.loads(re.search(rf'id="data-{name}">(.*?)</script>', html, re.DOTALL).group(1))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("page")
    module = torch.jit.script(lenet())
    module.save(str(path / "lenet.ts"))
    torchtrt.compile(module, inputs=[torchtrt.Input([1, 1, 32, 32])]).save(str(path / "compiled.ts"))
    return path


@pytest.fixture(scope="module")
def mixed():
    torch.manual_seed(0)
    module = torch.jit.script(Mixed().eval())
    return module, torchtrt.compile(module, inputs=[torchtrt.Input([64, 32])], min_block_size=1)


def test_fresh_report_has_phases_and_the_module(mixed, tmp_path):
    _, compiled = mixed
    report = torchtrt.report(compiled)
    report.to_html(tmp_path / "page.html")
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert part(html, "report") == json.loads(report.to_json())
    assert part(html, "report")["phases"] and part(html, "profile") is None and part(html, "verification") is None
    names = {engine["name"] for engine in part(html, "engines")}
    assert names == {segment.name for segment in report.segments if segment.name}
    assert all(engine["steps"] and engine["actions"] for engine in part(html, "engines"))


def test_profile_and_verification_are_in_the_page(mixed, tmp_path):
    module, compiled = mixed
    x = torch.randn(64, 32)
    profile, verification = torchtrt.profile(compiled, [x], calls=1), torchtrt.verify(module, compiled, [x], calls=1)
    torchtrt.report(compiled).to_html(str(tmp_path / "page.html"), profile=profile, verification=verification)
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert part(html, "profile") == json.loads(profile.to_json())
    assert part(html, "verification") == json.loads(verification.to_json())


def test_report_outlives_its_module(tmp_path):
    report = torchtrt.report(torchtrt.compile(torch.jit.script(nn.ReLU().eval()), inputs=[torchtrt.Input([2])], min_block_size=1))
    report.to_html(tmp_path / "page.html")
    assert len(part((tmp_path / "page.html").read_text(encoding="utf-8"), "engines")) == 1


def test_loaded_report_has_the_same_page_as_the_command(folder):
    report = torchtrt.report(torch.jit.load(str(folder / "compiled.ts")))
    report.to_html(folder / "loaded.html")
    process = succeeds("report", folder / "compiled.ts", "-o", folder / "command.html")
    assert "command.html" in process.stdout
    assert (folder / "loaded.html").read_bytes() == (folder / "command.html").read_bytes()


def test_source_lines_are_in_the_record(folder):
    report = torchtrt.report(torch.jit.load(str(folder / "compiled.ts")))
    assert any("conv2d" in line for line in report.source_lines.values())
    located = [node.node for node in report.nodes if ".py:" in node.node]
    assert located and all(re.search(r" # (.*?:\d+)", node).group(1) in report.source_lines for node in located)


def test_command_with_profile_and_verify(folder):
    process = succeeds("report", folder / "compiled.ts", "--profile", LENET_INPUT, "--verify", folder / "lenet.ts", "--calls", "1")
    assert "the outputs agree" in process.stdout
    html = (folder / "compiled.html").read_text(encoding="utf-8")
    assert part(html, "profile")["engines"] and part(html, "verification")["agrees"]


def test_module_without_engines(folder):
    torch.jit.script(nn.ReLU().eval()).save(str(folder / "relu.ts"))
    succeeds("report", folder / "relu.ts", "-o", folder / "relu.html")
    html = (folder / "relu.html").read_text(encoding="utf-8")
    assert part(html, "report") is None and part(html, "engines") == []
    compiled = torchtrt.compile(torch.jit.script(Unsupported().eval()), inputs=[torchtrt.Input([2])], min_block_size=9)
    torchtrt.report(compiled).to_html(folder / "none.html")
    html = (folder / "none.html").read_text(encoding="utf-8")
    assert part(html, "engines") == [] and part(html, "report")["nodes"]


def test_names_with_html_are_escaped(folder):
    hostile = "</script><img src=x onerror=alert(1)>"

    class Named(nn.Module):
        def forward(self, x):
            return torch.relu(x)

    compiled = torchtrt.compile(torch.jit.script(Named().eval()), inputs=[torchtrt.Input([2], name="x")], min_block_size=1)
    record = json.loads(compiled.torchtrt_report_json)
    record["module"] = record["nodes"][0]["reason"] = record["segments"][0]["name"] = hostile + "\u2028"
    compiled._c.setattr("torchtrt_report_json", json.dumps(record, ensure_ascii=False))
    compiled.save(str(folder / "hostile.ts"))
    succeeds("report", folder / "hostile.ts", "-o", folder / "hostile.html")
    html = (folder / "hostile.html").read_text(encoding="utf-8")
    assert hostile not in html and "\u2028" not in html
    assert part(html, "report")["module"] == hostile + "\u2028"


def test_fifty_thousand_nodes(folder):
    compiled = torch.jit.load(str(folder / "compiled.ts"))
    record = json.loads(compiled.torchtrt_report_json)
    record["nodes"] = [{"node": f"aten::relu # net.py:{i}:8 (layer{i % 97})", "target": "torch", "code": "test", "reason": "a test"} for i in range(50_000)]
    compiled._c.setattr("torchtrt_report_json", json.dumps(record))
    torchtrt.report(compiled).to_html(folder / "large.html")
    assert len(part((folder / "large.html").read_text(encoding="utf-8"), "report")["nodes"]) == 50_000


def test_notebooks_get_a_frame(folder):
    frame = torchtrt.report(torch.jit.load(str(folder / "compiled.ts")))._repr_html_()
    assert frame.startswith("<iframe srcdoc=") and 'sandbox="allow-scripts"' in frame
    assert "<script" not in frame and "&lt;script" in frame


@pytest.mark.parametrize("target, says", [("none/page.html", "No such file"), (".", "it is a folder")])
def test_output_that_cannot_be_written(folder, target, says):
    process = torchtrtc("report", folder / "compiled.ts", "-o", folder / target)
    assert process.returncode == 1 and "[C007] cannot write" in process.stderr and says in process.stderr
    with pytest.raises(torchtrt.CompileError, match=r"\[C007\] cannot write"):
        torchtrt.report(torch.jit.load(str(folder / "compiled.ts"))).to_html(folder / target)


def test_misuse(folder):
    process = torchtrtc("report", folder / "compiled.ts", "--verify", folder / "lenet.ts")
    assert process.returncode == 2 and "--verify needs inputs" in process.stderr
    assert torchtrtc("report", folder / "absent.ts").returncode == 1
    (folder / "text.ts").write_text("no module")
    process = torchtrtc("report", folder / "text.ts")
    assert process.returncode == 1 and "[C004]" in process.stderr
    report = torchtrt.report(torch.jit.load(str(folder / "compiled.ts")))
    with pytest.raises(torchtrt.CompileError, match="no file"):
        report.to_html("")
    with pytest.raises(torchtrt.CompileError, match="profile is a list"):
        report.to_html(folder / "page.html", profile=[])
