"""Options of the Python tests."""


def pytest_addoption(parser):
    parser.addoption("--all-models", action="store_true", help="every model of bench/models.py, about a quarter of an hour")
