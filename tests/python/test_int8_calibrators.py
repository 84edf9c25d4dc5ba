"""Calibrates int8 with batches of every form and with caches, and checks the messages for those that do not fit."""

import threading

import pytest
import torch
from torch import nn

import torchtrt
from test_int8 import IMAGES, INT8, ROWS, Cnn, Gated, Mlp, batches, calibrations, compiled, made, off_by
from torchtrt import ptq


class Masked(nn.Module):
    """Takes an argument that may be left out."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(64, 64), nn.Linear(64, 64)

    def forward(self, x, scale: float = 1.0, mask: torch.Tensor | None = None):
        y = torch.relu(self.first(x)) * scale
        if mask is not None:
            y = y * mask
        return self.second(y)


class Loader(torch.utils.data.Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index], index % 10


def forms():
    data = batches(ROWS)
    rows = torch.cat(data)
    return {
        "tensors": data,
        "tuples": [(each,) for each in data],
        "lists with labels": [[each, torch.arange(32)] for each in data],
        "labels of any kind": [(each, {"label"}) for each in data],
        "dictionaries": [{"x": each} for each in data],
        "DataLoader": torch.utils.data.DataLoader(Loader(rows), batch_size=32),
        "generator": (each for each in data),
    }


@pytest.mark.parametrize("form", list(forms()))
def test_batches_of_every_form(form):
    reference = compiled(made(Mlp), ROWS)
    int8 = compiled(made(Mlp), ROWS, forms()[form])
    x = batches(ROWS, 1, 7)[0]
    assert torch.equal(int8(x), reference(x)) and calibrations(int8)[0].calls == 4


def test_dictionaries_by_name():
    module, mask = made(Masked), torch.ones(64)
    inputs, signature = batches(ROWS), (torchtrt.Input(ROWS), 1.0, torchtrt.Input([64]))
    int8 = compiled(module, None, [{"mask": mask, "x": each, "labels": None} for each in inputs], inputs=None, input_signature=signature)
    assert sum(calibration.quantized_layers for calibration in calibrations(int8)) == 2
    assert off_by(int8, module, inputs[0], 1.0, mask) < 0.05


def test_one_calibrator_for_many_compiles_and_threads():
    calibrator = ptq.DataLoaderCalibrator(batches(ROWS))
    reference, x = compiled(made(Mlp), ROWS, calibrator=calibrator), batches(ROWS, 1, 7)[0]
    results = []

    def work(module):
        int8 = compiled(module, ROWS, calibrator=calibrator)
        results.append(all(torch.equal(int8(x), reference(x)) for _ in range(20)))

    # Made one after the other: they draw their weights from one generator.
    threads = [threading.Thread(target=work, args=[module]) for module in [made(Mlp) for _ in range(3)]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 3


def test_the_cache_serves_in_place_of_data(tmp_path):
    file, x = tmp_path / "mlp.cache", batches(ROWS, 1, 7)[0]
    first = compiled(made(Mlp), ROWS, with_={"cache_file": file})
    assert file.read_text().startswith("torchtrt calibration 1\n")
    before = file.read_bytes()
    cached = compiled(made(Mlp), ROWS, calibrator=ptq.CacheCalibrator(str(file)))
    unread = compiled(made(Mlp), ROWS, [1, 2, 3], with_={"cache_file": file, "use_cache": True})
    for each in [cached, unread]:
        assert torch.equal(each(x), first(x)) and calibrations(each)[0].is_cached and calibrations(each)[0].calls == 0
        assert "ranges from the cache" in str(torchtrt.report(each))
    assert file.read_bytes() == before
    assert calibrations(cached)[0].error is None
    (measured,) = calibrations(compiled(made(Mlp), ROWS, calibrator=ptq.CacheCalibrator(file), inputs=[x]))
    assert measured.is_cached and 1e-4 < measured.error < 0.05  # on the sample
    assert [path.name for path in tmp_path.iterdir()] == ["mlp.cache"]


def test_a_cache_that_does_not_know_the_module_is_added_to(tmp_path):
    file = tmp_path / "both.cache"
    compiled(made(Mlp), ROWS, with_={"cache_file": file})
    compiled(made(Cnn), IMAGES, with_={"cache_file": file, "use_cache": True})
    for kind, shape in [(Mlp, ROWS), (Cnn, IMAGES)]:
        assert calibrations(compiled(made(kind), shape, calibrator=ptq.CacheCalibrator(file)))[0].is_cached
    with pytest.raises(torchtrt.CompileError, match="C003.*has no ranges for this module"):
        compiled(made(Gated), ROWS, calibrator=ptq.CacheCalibrator(file))


def test_the_cache_of_another_method_is_not_used_beside_data(tmp_path, capfd):
    file = tmp_path / "mlp.cache"
    compiled(made(Mlp), ROWS, with_={"cache_file": file})
    entropy = {"cache_file": file, "use_cache": True, "algo_type": ptq.CalibrationAlgo.ENTROPY_CALIBRATION_2}
    assert not calibrations(compiled(made(Mlp), ROWS, with_=entropy))[0].is_cached
    assert "was written by another method" in capfd.readouterr().err
    assert "method entropy" in file.read_text()


def test_neither_is_the_cache_of_another_percentile_or_symmetry(tmp_path):
    file = tmp_path / "mlp.cache"
    settings = {"cache_file": file, "use_cache": True, "algo_type": ptq.CalibrationAlgo.LEGACY_CALIBRATION, "percentile": 99.0}
    for changed in [{}, {"percentile": 99.9}, {"symmetric": True}]:
        settings |= changed
        assert [calibrations(compiled(made(Mlp), ROWS, with_=settings))[0].is_cached for _ in range(2)] == [False, True], changed
    assert "method percentile 99.9 symmetric" in file.read_text()


def rejects(match, **options):
    with pytest.raises(torchtrt.CompileError, match=match):
        torchtrt.compile(made(Mlp), inputs=[ROWS], **{"enabled_precisions": INT8, **options})


def loader(*data, **options):
    return ptq.DataLoaderCalibrator(data or batches(ROWS), **options)


def test_options_that_do_not_fit():
    rejects("C003.*int8 is not among enabled_precisions(.|\n)*add int8", calibrator=loader(), enabled_precisions={torch.float32})
    rejects("C003.*accuracy_target is 1(.|\n)*between 0 and 1", calibrator=loader(), accuracy_target=1.0)
    rejects("C003.*accuracy_target is 0(.|\n)*between 0 and 1", calibrator=loader(), accuracy_target=0.0)
    rejects("C003.*no calibration batches to measure on", accuracy_target=0.1)
    rejects("C003.*accuracy_target does not take 'low'", calibrator=loader(), accuracy_target="low")
    rejects("C003.*calibrator does not take a list", calibrator=batches(ROWS))
    rejects("C003.*percentile is 101", calibrator=loader(percentile=101))
    rejects("C003.*names no file", calibrator=loader(use_cache=True))
    for wrong in [3, "data", torch.zeros(3), {"x": 1}]:
        with pytest.raises(torchtrt.CompileError, match="C003.*is no data loader"):
            ptq.DataLoaderCalibrator(wrong)
    with pytest.raises(torchtrt.CompileError, match="C003"):
        ptq.DataLoaderCalibrator([], device="toaster")
    ptq.DataLoaderCalibrator([], device=torch.device("cuda:0"))  # ranges are taken on the CPU wherever engines run
    with pytest.raises(torchtrt.CompileError, match="C003.*algo_type is 7"):
        ptq.DataLoaderCalibrator([], algo_type=7)


def test_batches_that_do_not_fit():
    rejects("C002.*the calibrator gives no batch(.|\n)*gone through", calibrator=ptq.DataLoaderCalibrator([]))
    used = iter(batches(ROWS))
    list(used)
    rejects("C002.*the calibrator gives no batch", calibrator=ptq.DataLoaderCalibrator(used))
    rejects("C002.*first calibration batch does not fit forward", calibrator=loader(torch.zeros(32, 63)))
    rejects("C002.*first calibration batch does not fit forward: mat1 and mat2.*dtype", calibrator=loader(torch.zeros(ROWS).double()))
    rejects("C002.*first calibration batch does not fit forward(.|\n)*Tensor x", calibrator=loader(("text",)))
    rejects("C002.*first calibration batch does not fit forward", calibrator=loader(()))
    rejects("C002.*TypeError: a calibration batch is a int", calibrator=loader(3))
    rejects("C002.*ValueError: a calibration batch has .'y'.", calibrator=loader({"y": torch.zeros(ROWS)}))

    def failing():
        yield batches(ROWS)[0]
        raise OSError("the disk is gone")

    rejects("C002.*the calibrator raised OSError: the disk is gone", calibrator=ptq.DataLoaderCalibrator(failing()))

    def interrupted():
        yield batches(ROWS)[0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compiled(made(Mlp), ROWS, calibrator=ptq.DataLoaderCalibrator(interrupted()))


def test_a_last_batch_of_another_size_is_left_out(capfd):
    int8 = compiled(made(Mlp), ROWS, [*batches(ROWS), torch.randn(7, 64)])
    assert calibrations(int8)[0].calls == 4
    assert "1 of 5 calibration batches do not fit and are left out" in capfd.readouterr().err


def test_an_empty_batch_tells_no_error():
    inputs = [torchtrt.Input(min_shape=[0, 64], opt_shape=ROWS, max_shape=ROWS)]
    empty = torch.zeros(0, 64)
    (alone,) = calibrations(compiled(made(Mlp), None, [empty], inputs=inputs))
    assert alone.quantized_layers == 0 and alone.error is None
    (first,) = calibrations(compiled(made(Mlp), None, [empty, *batches(ROWS)], inputs=inputs))
    assert first.calls == 5 and first.quantized_layers == 3 and first.error > 1e-4


def test_the_cache_is_as_readable_as_other_files(tmp_path):
    cache, other = tmp_path / "model.cache", tmp_path / "other"
    other.touch()
    compiled(made(Mlp), ROWS, with_={"cache_file": cache})
    assert cache.stat().st_mode == other.stat().st_mode and sorted(tmp_path.iterdir()) == [cache, other]


def test_caches_that_cannot_be_read(tmp_path):
    rejects("C003.*missing.cache cannot be read(.|\n)*compile once with batches", calibrator=ptq.CacheCalibrator(tmp_path / "missing.cache"))
    damaged = tmp_path / "damaged.cache"
    damaged.write_text("torchtrt calibration 1\nmethod entropy\nnetwork abc\nrange low high x\n")
    rejects("C003.*damaged.cache", calibrator=ptq.CacheCalibrator(damaged))
    rejects("C007.*cannot be written", calibrator=loader(cache_file=tmp_path / "no" / "such" / "folder"))


@pytest.mark.parametrize("content", [b"PK\x03\x04\x00\x00", b"torchtrt calibration 1\nmethod \xff\xfe\n", bytes(range(256))])
def test_caches_that_are_no_text(tmp_path, content):
    cache = tmp_path / "model.cache"
    cache.write_bytes(content)
    rejects("C003.*model.cache: .*(no text|there is no method)", calibrator=ptq.CacheCalibrator(cache))
    rejects("C003.*model.cache: .*(no text|there is no method)", calibrator=loader(cache_file=cache, use_cache=True))


def test_a_folder_as_a_cache_is_refused_before_calibrating(tmp_path):
    def never():
        raise AssertionError("the calibrator was called")
        yield

    rejects("C007.*is a folder or a device", calibrator=ptq.DataLoaderCalibrator(never(), cache_file=tmp_path))


@pytest.mark.parametrize("before", [None, "", "torchtrt calibration 1\nmethod entropy\nnetwork a\nrange 0 1 x\n"])
def test_a_calibrator_that_nothing_qualifies_for_writes_its_cache_and_says_so(tmp_path, capfd, before):
    cache = tmp_path / "model.cache"
    if before is not None:
        cache.write_text(before)
    relu = torch.jit.script(nn.ReLU().eval())
    calibrator = ptq.DataLoaderCalibrator([torch.ones(2, 3)], cache_file=cache)
    done = torchtrt.compile(relu, inputs=[[2, 3]], enabled_precisions={torch.int8}, calibrator=calibrator)
    told = capfd.readouterr().err
    assert f"no layer of this module has an int8 form, so the calibrator is not called and {cache} holds no ranges" in told
    assert cache.read_text() == "torchtrt calibration 1\nmethod minmax\n"
    assert torch.equal(done(-torch.ones(2, 3)), torch.zeros(2, 3))
    again = ptq.CacheCalibrator(cache)
    torchtrt.compile(relu, inputs=[[2, 3]], enabled_precisions={torch.int8}, calibrator=again)


def test_a_module_without_engines_writes_its_cache_too(tmp_path, capfd):
    cache = tmp_path / "model.cache"
    module = torch.jit.trace(lambda x: torch.lgamma(x), torch.ones(2))
    torchtrt.compile(module, inputs=[[2]], enabled_precisions={torch.int8},
                     calibrator=ptq.DataLoaderCalibrator([torch.ones(2)], cache_file=cache))
    assert "the calibrator is not called" in capfd.readouterr().err and cache.exists()


def test_a_cache_keeps_its_permissions_and_links_lead_to_it(tmp_path):
    cache, link = tmp_path / "model.cache", tmp_path / "link"
    cache.touch(0o600)
    link.symlink_to("model.cache")
    compiled(made(Mlp), ROWS, with_={"cache_file": link})
    assert link.is_symlink() and cache.stat().st_mode & 0o777 == 0o600 and "range" in cache.read_text()


def test_slow_loaders_are_waited_for_with_a_word(capfd):
    def slow():
        for batch in batches(ROWS, 3):
            threading.Event().wait(0.8)
            yield batch

    compiled(made(Mlp), ROWS, slow())
    assert " batches so far" in capfd.readouterr().err


class Around(nn.Module):
    """Another module in the middle."""

    def __init__(self, inner):
        super().__init__()
        self.first, self.inner, self.second = nn.Linear(64, 64), inner, nn.Linear(32, 64)

    def forward(self, x):
        return self.second(torch.relu(self.inner(self.first(x))))


@pytest.mark.parametrize("options", [{"tune": True, "sample_inputs": batches((8, 64), 1)},
                                     {"calibrator": ptq.DataLoaderCalibrator(batches((8, 64))), "enabled_precisions": {torch.int8}}],
                         ids=["tuned", "calibrated"])
def test_engines_that_a_module_came_with_are_left_alone(options):
    x = batches((8, 64), 1)[0]
    inner = torchtrt.compile(torch.jit.script(made(Mlp)), inputs=[x])
    module = torch.jit.script(Around(inner).eval())
    around = torchtrt.compile(module, inputs=[x], min_block_size=1, **options)
    assert off_by(around, module, x) < 0.1
