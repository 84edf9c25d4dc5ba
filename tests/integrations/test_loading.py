"""Compiled files as workers have them: pickled by path, any number of rows, and what does not fit."""

import pickle

import nets
import numpy
import pytest
import torch
import torchtrt
from nets import Two, compile_to
from torch import nn
from torchtrt.integrations import _loading


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """A file of two arguments and two results, for 2 to 16 rows, and the module."""
    path = tmp_path_factory.mktemp("two") / "compiled.ts"
    return path, compile_to(path, Two, [4], [3])


def arrays(rows):
    return nets.arrays(rows, [4], [3])


@pytest.mark.parametrize("rows", [1, 2, 16, 17, 35])
def test_any_number_of_rows_gives_what_each_row_gives(two, rows):
    path, module = two
    model = _loading.Model(path)
    assert model.rows == (2, 16)
    given = arrays(rows)
    expected = module(*map(torch.from_numpy, given))
    for actual, wanted in zip(model(given), expected):
        assert len(actual) == rows
        torch.testing.assert_close(torch.from_numpy(actual), wanted)


@pytest.mark.parametrize("rows, calls", [(1, [1]), (5, [5]), (6, [3, 3]), (11, [4, 4, 3]), (10, [5, 5])])
def test_calls_are_few_and_even(rows, calls):
    assert _loading.pieces(rows, 2, 5) == calls


def test_only_the_path_is_pickled(two):
    model = _loading.Model(two[0], threads=2)
    model(arrays(3))
    state = pickle.dumps(model)
    assert len(state) < 500 and bytes(two[0]) in state
    again = pickle.loads(state)
    assert again._module is None and again.threads == 2
    numpy.testing.assert_array_equal(again(arrays(3))[0], model(arrays(3))[0])


def test_arrays_that_can_only_be_read_stay_as_they_are(two):
    given = arrays(3)
    for array in given:
        array.flags.writeable = False
    copies = [array.copy() for array in given]
    _loading.Model(two[0])(given)
    for array, copy in zip(given, copies):
        numpy.testing.assert_array_equal(array, copy)


def test_arrays_of_any_strides(two):
    path, module = two
    x, y = arrays(5)
    x = numpy.asfortranarray(x)
    torch.testing.assert_close(torch.from_numpy(_loading.Model(path)([x, y[::-1]])[1]), module(torch.from_numpy(x), torch.from_numpy(y[::-1].copy()))[1])


MISFITS = {
    "one array": (lambda x, y: [x], r"forward takes 2 arrays \(x, y\), got 1"),
    "columns": (lambda x, y: [x[:, :3], y], r"'x': expected \[rows, 4\], got \[3, 3\]"),
    "rank": (lambda x, y: [x[0], y], r"'x': expected \[rows, 4\], got \[4\]"),
    "rows": (lambda x, y: [x, y[:2]], r"the arguments have \[2, 3\] rows"),
    "none": (lambda x, y: [x[:0], y[:0]], "there are no rows"),
    "ragged": (lambda x, y: [numpy.array([x[0], x[0, :2], x[1]], dtype=object), y], "the rows of 'x' have different sizes"),
}


@pytest.mark.parametrize("case", MISFITS)
def test_what_does_not_fit_is_told(two, case):
    change, message = MISFITS[case]
    with pytest.raises(torchtrt.CompileError, match=r"\[C002\] " + message):
        _loading.Model(two[0])(change(*arrays(3)))


def test_a_missing_file_names_the_worker():
    with pytest.raises(torchtrt.EngineError, match=r"\[E009\] there is no file '/nowhere/compiled.ts' on this worker"):
        _loading.Model("/nowhere/compiled.ts").load()


def test_a_damaged_file_is_an_error(two, tmp_path):
    content = two[0].read_bytes()
    (tmp_path / "cut.ts").write_bytes(content[:len(content) // 2])
    with pytest.raises(torchtrt.EngineError, match=r"\[E001\] cannot read '.*cut.ts'"):
        _loading.Model(tmp_path / "cut.ts").load()


def test_columns_of_other_dtypes(two):
    path, module = two
    model, (x, y) = _loading.Model(path), arrays(5)
    torch.testing.assert_close(torch.from_numpy(model([x.astype(numpy.float64), y])[1]), module(torch.from_numpy(x), torch.from_numpy(y))[1])
    whole = numpy.arange(15, dtype=numpy.int16).reshape(5, 3)
    torch.testing.assert_close(torch.from_numpy(model([x, whole])[1]), module(torch.from_numpy(x), torch.from_numpy(whole).float())[1])
    with pytest.raises(torchtrt.CompileError, match=r"\[C002\] 'y': expected float32, got int64"):
        model([x, whole.astype(numpy.int64)])


class Halved(nn.Module):
    def forward(self, x):
        return torch.relu(x).to(torch.bfloat16)


def test_results_that_numpy_does_not_have(tmp_path):
    torchtrt.compile(torch.jit.script(Halved()), inputs=[torchtrt.Input([3, 4])], min_block_size=1).save(str(tmp_path / "halved.ts"))
    (x,) = nets.arrays(3, [4])
    (result,) = _loading.Model(tmp_path / "halved.ts")([x])
    assert result.dtype == numpy.float32
    torch.testing.assert_close(torch.from_numpy(result), torch.relu(torch.from_numpy(x)).to(torch.bfloat16).float())


class Sum(nn.Module):
    def forward(self, x):
        return x.sum()


def test_a_result_without_rows_is_told(tmp_path):
    torchtrt.compile(torch.jit.script(Sum()), inputs=[torchtrt.Input([3, 4])], min_block_size=1).save(str(tmp_path / "sum.ts"))
    with pytest.raises(torchtrt.CompileError, match=r"\[C004\] result 0 of forward is \[\] for 3 rows"):
        _loading.Model(tmp_path / "sum.ts")([numpy.ones((3, 4), numpy.float32)])


class Words(nn.Module):
    def forward(self, x, word: str):
        return torch.relu(x) if word == "relu" else x


def test_arguments_that_are_no_tensors_are_told(tmp_path):
    torchtrt.compile(torch.jit.script(Words()), input_signature=(torchtrt.Input([3, 4]), "relu"), min_block_size=1).save(str(tmp_path / "words.ts"))
    with pytest.raises(torchtrt.CompileError, match=r'\[C004\] "word" of forward is str, and rows are tensors'):
        _loading.Model(tmp_path / "words.ts").load()


@pytest.mark.parametrize("extra, package", [("ray", "Ray"), ("spark", "Spark"), ("beam", "Apache Beam")])
def test_a_missing_package_is_one_line(extra, package):
    assert str(_loading.needed(package, extra)) == (
        f"torchtrt.integrations.{extra} needs {package}, which is not installed\n  pip install 'torchtrt[{extra}]'")
