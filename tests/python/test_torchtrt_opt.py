"""torchtrt-opt as its users call it: text in, passes, text out."""

import os
import subprocess
from pathlib import Path

PROGRAM = Path(os.environ["TORCHTRT_BUILD"]) / "bin" / "torchtrt-opt"
TEXT = """network "n" () {
  input %x : float32[2]
  %zero = constant() {} : float32[] data=[0.0]
  %a = elementwise(%zero, %x) {op="max"} : float32[2]
  %b = cast(%a) {to=float32} : float32[2]
  output "y" %b
}
"""


def opt(*arguments, text=TEXT):
    return subprocess.run([PROGRAM, *arguments], input=text, capture_output=True, text=True, check=False)


def layers(text):
    return [line.split(" = ")[1].split("(")[0] for line in text.splitlines() if " = " in line]


def test_without_passes_prints_what_it_read():
    result = opt("-")
    assert result.returncode == 0, result.stderr
    assert result.stdout == TEXT
    assert opt(text=result.stdout).stdout == TEXT


def test_runs_the_named_passes_in_their_order():
    result = opt("--pass=recognize_activations", "--pass=remove_no_ops", "--verify-each")
    assert result.returncode == 0, result.stderr
    assert layers(result.stdout) == ["activation"]
    assert layers(opt("--pass=remove_no_ops").stdout) == ["constant", "elementwise"]


def test_runs_the_pipeline_without_what_is_disabled():
    assert layers(opt("--pipeline").stdout) == ["activation"]
    result = opt("--pipeline", "--disable-pass=recognize_activations", "--dump-after=^move_")
    assert layers(result.stdout) == ["constant", "elementwise"]
    assert "# after move_constants_right" in result.stderr
    assert "elementwise(%x, %zero)" in result.stderr


def test_reads_a_file(tmp_path):
    path = tmp_path / "network.txt"
    path.write_text(TEXT)
    assert opt(str(path), text="").stdout == TEXT


def test_lists_passes_and_layers():
    passes = opt("--list-passes").stdout
    assert "- `fold_batch_norm`: " in passes
    assert opt("--list-layers").stdout.startswith("# Layers\n")


def test_prints_the_plan_and_the_schedule_of_what_the_passes_left():
    plan = opt("--pipeline", "--level=plan")
    assert plan.returncode == 0, plan.stderr
    assert plan.stdout.startswith('plan "n"') and ' activation "' in plan.stdout
    assert ' elementwise "' in opt("--level=plan").stdout  # nothing is optimized unless it is asked for
    schedule = opt("--pipeline", "--level=schedule")
    assert schedule.returncode == 0, schedule.stderr
    assert 'schedule "n"' in schedule.stdout and "activation" in schedule.stdout
    assert opt("--pipeline", "--level=network").stdout == opt("--pipeline").stdout


def test_the_pipeline_stops_after_a_pass():
    first = opt("--pipeline", "--stop-after=remove_dead_layers")
    assert first.returncode == 0, first.stderr
    assert first.stdout == opt("--pass=remove_dead_layers").stdout
    last = opt("--list-passes").stdout.strip().splitlines()[-1].split("`")[1]
    whole = opt("--pipeline", f"--stop-after={last}")
    assert whole.returncode == 0, whole.stderr
    assert whole.stdout == opt("--pipeline").stdout != first.stdout


def test_a_pass_to_stop_after_has_to_be_one_of_the_pipeline():
    unknown = opt("--pipeline", "--stop-after=no_such_pass")
    assert unknown.returncode != 0 and "no_such_pass" in unknown.stderr and not unknown.stdout
    alone = opt("--pass=remove_dead_layers", "--stop-after=remove_dead_layers")
    assert alone.returncode != 0 and "--pipeline" in alone.stderr and not alone.stdout


def test_a_schedule_is_that_of_optimum_sizes():
    text = TEXT.replace("float32[2]", "float32[s]").replace('"n" ()', '"n" (s in [1, 6, 9])')
    schedule = opt("--level=schedule", text=text)
    assert schedule.returncode == 0, schedule.stderr
    assert "[6]" in schedule.stdout and "[9]" not in schedule.stdout


def test_says_what_is_wrong_with_a_call():
    for arguments, message in [
        (["--frobnicate"], "unknown option --frobnicate"),
        (["--pass"], "option --pass needs a value"),
        (["--pass=remove_no_ops", "--pipeline"], "--pass and --pipeline exclude each other"),
        (["--disable-pass=remove_no_ops"], "--disable-pass needs --pipeline"),
        (["--level=engine"], "--level is network, plan or schedule, got 'engine'"),
        (["--level=torchscript"], "torchtrtc --dump FOLDER[:REGEX]"),
        (["one.txt", "two.txt"], "one file at a time"),
        (["no/such/file"], "cannot read 'no/such/file'"),
    ]:
        result = opt(*arguments)
        assert result.returncode == 2, arguments
        assert message in result.stderr, result.stderr


def test_says_what_is_wrong_with_passes_and_networks():
    result = opt("--pass=fold_everything")
    assert result.returncode == 1
    assert "[C003] there is no pass named 'fold_everything'" in result.stderr
    result = opt(text='network "n" () {\n  %a = unary(%x) {op="neg"}\n}')
    assert result.returncode == 1
    assert "[C008]" in result.stderr and "%x" in result.stderr
