"""bench/shapes.py: random shapes of a model's range are eager's, and it tells preparing again from having had no room."""

import os

import pytest
import shapes


@pytest.mark.parametrize("name", ["lstm, scripted", "u-net, traced"])
def test_random_shapes(name):
    cells, is_right = shapes.measure(name, 8, seed=1)
    assert is_right and cells[0] == name and cells[5].endswith(", 0 again")
    engines = int(cells[3].split()[0])
    assert int(cells[5].split(",")[0]) == engines * int(cells[2]) >= 6  # once for every shape


@pytest.mark.parametrize("kept, again", [([1, 2, 3], 1), ([1, 1, 1], 0)])
def test_preparing_again(kept, again):
    """For a shape that is still kept, and for one that had to go."""
    with shapes.Prepared() as prepared:
        for count, size in zip(kept, (2, 3, 2)):
            os.write(2, f"DEBUG: engine net is prepared for [{size}, 4] [1]: {count} kept, 100 of 200 bytes\n".encode())
    assert prepared.again == again and prepared.made == {("net", "[2, 4] [1]"): 2, ("net", "[3, 4] [1]"): 1}


def test_what_an_engine_was_not_made_for_is_seen():
    with shapes.Prepared() as prepared:
        os.write(2, b"WARNING: PyTorch runs what an engine was not made for, now and in later calls like this one\n")
    assert len(prepared.refused) == 1
