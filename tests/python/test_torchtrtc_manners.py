"""torchtrtc on a terminal and in a shell: the rows of a compile, colours, completion and the manual page."""

import os
import pty
import re
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest
import torch
from torch import nn

from test_torchtrtc import BUILD, succeeds, torchtrtc

RELU_INPUT = "(2)"


class Mixed(nn.Module):
    def forward(self, x):
        return torch.linalg.inv(torch.relu(x @ x) + torch.eye(x.size(0))), torch.lgamma(x)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("manners")
    torch.jit.script(nn.ReLU().eval()).save(str(path / "relu.ts"))
    torch.jit.script(Mixed().eval()).save(str(path / "mixed.ts"))
    return path


def on_terminal(*arguments, cwd, **environment) -> str:
    """What torchtrtc writes to stderr, where that is a terminal."""
    ours, theirs = pty.openpty()
    variables = {**{key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "TERM")}, "TERM": "xterm", **environment}
    process = subprocess.Popen([str(BUILD / "bin" / "torchtrtc"), *arguments], stdout=subprocess.DEVNULL, stderr=theirs, cwd=cwd, env=variables)
    os.close(theirs)
    written = b""
    try:
        while piece := os.read(ours, 4096):
            written += piece
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    process.wait(timeout=60)
    return written.decode()


def test_the_rows_of_a_compile_line_up(folder):
    rows = succeeds("mixed.ts", "out.ts", "(4,4)", "--mbs=1", cwd=folder).stderr.splitlines()
    assert [row[:12].strip() for row in rows[:3]] == ["compiled", "engines", "in PyTorch"] or rows[2].startswith("time        "), rows
    assert all(re.match(r"[a-zA-Z0-9 ]{11} \S", row) for row in rows), rows
    assert re.fullmatch(r"compiled    \S+\.forward in \S+ s", rows[0]) and re.fullmatch(r"wrote       out\.ts, \d+\.\d KB", rows[-1]), rows
    assert any("linalg_inv" in row for row in rows)


class Slow(nn.Module):
    """Takes a part of a second on one core."""

    def forward(self, x):
        for _ in range(20):
            x = torch.tanh(x @ x)
        return x


@pytest.mark.parametrize("command, phase", [(["verify", "slow.ts", "slow.ts"], "comparing"), (["profile", "slow.ts"], "timing")])
def test_long_work_shows_progress_on_a_terminal(command, phase, tmp_path):
    torch.jit.script(Slow().eval()).save(str(tmp_path / "slow.ts"))
    written = on_terminal(*command, "(900,900)", "--calls", "6", "--threads", "1", cwd=tmp_path, NO_COLOR="1")
    line = re.search(rf"[|/\\-] torchtrt: {phase}, [2-9]\d* s\r", written)
    assert line, written
    assert "\r" + " " * (len(line[0]) - 1) + "\r" in written[line.end() - 1:]  # it goes at the end


@pytest.mark.parametrize("options, environment, is_colored", [
    ([], {}, True), ([], {"NO_COLOR": "1"}, False), ([], {"NO_COLOR": ""}, True), ([], {"TERM": "dumb"}, False),
    (["--color", "never"], {}, False), (["--color=always"], {"NO_COLOR": "1"}, True)])
def test_a_terminal_has_colours_where_it_wants_them(folder, options, environment, is_colored):
    written = on_terminal("relu.ts", "out.ts", RELU_INPUT, *options, cwd=folder, **environment)
    assert ("\x1b[1mcompiled\x1b[0m    " in written) == is_colored, written
    assert ("\x1b" in written) == is_colored
    wrong = on_terminal(*options, "inspect", "missing.ts", cwd=folder, **environment)
    assert wrong.startswith("\x1b[1;31mtorchtrtc:\x1b[0m [C004]" if is_colored else "torchtrtc: [C004]"), wrong


def test_files_have_colours_on_request_alone(folder):
    assert "\x1b" not in succeeds("relu.ts", "out.ts", RELU_INPUT, cwd=folder).stderr
    assert "\x1b[1mcompiled" in succeeds("relu.ts", "out.ts", RELU_INPUT, "--color", "always", cwd=folder).stderr
    assert torchtrtc("inspect", "missing.ts", "--color=always", cwd=folder).stderr.startswith("\x1b[1;31mtorchtrtc:")
    wrong = torchtrtc("inspect", "relu.ts", "--color=green", cwd=folder)
    assert (wrong.returncode, wrong.stderr) == (
        2, 'torchtrtc: [C003] --color: expected auto, always or never, got "green"\n  see torchtrtc inspect --help\n')


def words_of_bash(line: str, folder: Path) -> list[str]:
    """What bash offers where the cursor is at the end of this line, of which it splits the words as it does when reading."""
    script = f"""
source <("{BUILD / 'bin' / 'torchtrtc'}" completion bash)
complete -p torchtrtc > /dev/null || exit 1
COMP_LINE="$1"; COMP_POINT=${{#COMP_LINE}}
read -r -a COMP_WORDS <<< "${{COMP_LINE//=/ = }}"
[[ $COMP_LINE == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_torchtrtc
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    process = subprocess.run(["bash", "-c", script, "bash", line], capture_output=True, text=True, cwd=folder, check=False)
    assert process.returncode == 0 and not process.stderr, process.stderr
    return process.stdout.split()


COMPLETED = {
    "torchtrtc ins": ["inspect"],
    "torchtrtc rel": ["relu.ts"],
    "torchtrtc inspect rel": ["relu.ts"],
    "torchtrtc inspect relu.ts --dis": ["--disable-fusion"],
    "torchtrtc run relu.ts --calls ": [],
    "torchtrtc run relu.ts --color a": ["auto", "always"],
    "torchtrtc run relu.ts --color=n": ["never"],
    "torchtrtc relu.ts out.ts --engine-capability s": ["standard", "safety"],
    "torchtrtc relu.ts out.ts --accuracy-": ["--accuracy-target"],
    "torchtrtc relu.ts out.ts --stop-after lo": ["lowering", "loading"],
    "torchtrtc profile relu.ts --trace m": ["mixed.ts"],
    "torchtrtc completion ": ["bash", "zsh", "fish"],
}


@pytest.mark.parametrize("line", COMPLETED)
def test_bash_completes(line, tmp_path):
    for name in ("relu.ts", "mixed.ts"):
        (tmp_path / name).touch()
    assert words_of_bash(line, tmp_path) == COMPLETED[line]


def test_bash_itself_completes_on_a_terminal(tmp_path):
    """A real bash, with keys: TAB after the beginning of a command."""
    (tmp_path / "init").write_text(f'PATH="{BUILD / "bin"}:$PATH"\nPS1="ready> "\nsource <(torchtrtc completion bash)\n')
    ours, theirs = pty.openpty()
    process = subprocess.Popen(["bash", "--noprofile", "--rcfile", str(tmp_path / "init"), "-i"], stdin=theirs, stdout=theirs, stderr=theirs,
                               cwd=tmp_path, start_new_session=True, env={**os.environ, "TERM": "dumb", "HISTFILE": ""})
    os.close(theirs)
    seen = b""
    try:
        for keys, answer in [(b"", b"ready> "), (b"torchtrtc insp\t", b"torchtrtc inspect "), (b"x --refer\t", b"x --reference-kernels ")]:
            os.write(ours, keys)
            seen, end = b"", time.monotonic() + 30
            while answer not in seen and select.select([ours], [], [], max(0.0, end - time.monotonic()))[0]:
                seen += os.read(ours, 4096)
            assert answer in seen, seen
    finally:
        os.close(ours)
        process.kill()
        process.wait()


def test_every_option_of_help_is_completed(tmp_path):
    for command in ["", "inspect", "run", "profile", "verify", "check", "bundle", "replay", "env", "triton"]:
        shown = set(re.findall(r"^ +(?:-\w,)?(--[a-z0-9-]+)", succeeds(*command.split(), "--help").stdout, re.MULTILINE))
        line = f"torchtrtc {command} x --" if command else "torchtrtc x --"
        assert shown and shown <= set(words_of_bash(line, tmp_path)), command


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_read_their_completion(shell, tmp_path):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "torchtrtc").write_text(succeeds("completion", shell).stdout)
    process = subprocess.run([shell, "-n", str(tmp_path / "torchtrtc")], capture_output=True, text=True, check=False)
    assert (process.returncode, process.stderr) == (0, "")
    if shell == "fish":
        offered = subprocess.run(["fish", "-c", f"source {tmp_path / 'torchtrtc'}; complete -C 'torchtrtc run x --color '"], capture_output=True,
                                 text=True, check=True, env={**os.environ, "HOME": str(tmp_path)}).stdout
        assert {line.split("\t")[0] for line in offered.splitlines()} == {"auto", "always", "never"}


def test_completion_of_another_shell_is_an_error():
    process = torchtrtc("completion", "csh")
    assert (process.returncode, process.stderr) == (
        2, 'torchtrtc: [C003] SHELL: expected bash, zsh or fish, got "csh"\n  see torchtrtc completion --help\n')


def test_the_manual_page_has_every_option():
    page = succeeds("man").stdout
    for command in ["", "inspect", "run", "profile", "verify", "check", "triton", "completion"]:
        for option in re.findall(r"^ +(?:-\w,)?(--[a-z0-9-]+)", succeeds(*command.split(), "--help").stdout, re.MULTILINE):
            assert option.replace("-", "\\-") in page, option
    assert page.startswith(".TH TORCHTRTC 1 ") and ".SH EXIT STATUS\n" in page


def test_the_manual_page_is_clean_roff():
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    page = succeeds("man").stdout
    checked = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-rLL=100n"], input=page, capture_output=True, text=True, check=True)
    assert checked.stderr == ""
    text = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", checked.stdout)
    assert "--accuracy-target NUMBER" in text and "torchtrtc inspect FILE" in text
