"""Options of the Python tests."""


def pytest_addoption(parser):
    parser.addoption("--every-dtype", action="store_true", help="every operator with dynamic dimensions in every dtype, not in one alone")
    parser.addoption("--all-models", action="store_true", help="every model of bench/models.py and bench/catalog.py, about half an hour")
    parser.addoption("--fuzz-seeds", type=int, default=200, help="random programs that test_program_fuzz.py runs")
    parser.addoption("--stack-seeds", type=int, default=150, help="random stacks of layers that test_stack_fuzz.py runs")
    parser.addoption("--fallback-seeds", type=int, default=0,
                     help="random sets of operators kept in PyTorch per model of bench/catalog.py, for all of them (20: about an hour)")
