"""The arithmetic of bench/scale_out.py. No speed is asserted."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
import scale_out  # noqa: E402


def test_rates_are_of_the_time_in_which_all_actors_are_warm_and_at_work():
    # The second actor starts at 4; the first one ends at 10. From 5 to 10 each does two calls and a half.
    calls = {(1, begin, begin + 2.0, 0.5): 16 for begin in (0.0, 2.0, 4.0, 6.0, 8.0)} | {(2, begin, begin + 1.0, 0.25): 8 for begin in range(4, 14)}
    images_a_second, cpu_milliseconds = scale_out.rates(calls)
    assert images_a_second == pytest.approx(2.5 * 16 / 5 + 8)
    assert cpu_milliseconds == pytest.approx(1e3 * 0.5 / 16)
