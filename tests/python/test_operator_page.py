"""The coverage page is that of this build, holds all of the reference's operators, and its list of exceptions is true."""

import pathlib
import subprocess
import sys

import operator_page
import pytest
import torch
import torchvision  # noqa: F401 - registers its operators
from torch_release import IS_PINNED
from torchtrt._torchtrt import converter_schemas

ROOT = pathlib.Path(__file__).parents[2]


def without_dtypes(page: str) -> list[str]:
    """Returns the page without the columns of dtypes: the names and overloads of operators, the names of evaluators, all text."""
    cells = [line.split("|") if line.startswith("| `") else [line] for line in page.splitlines()]
    return ["|".join(row if len(row) == 1 else row[: len(row) // 2]) for row in cells]


def test_the_page_is_that_of_the_registry_and_the_table():
    # A process of its own runs it: other tests add converters to this one's registry.
    process = subprocess.run([sys.executable, operator_page.__file__], capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    page, written = process.stdout, (ROOT / "docs/operators.md").read_text()
    if not IS_PINNED:  # eager takes other dtypes there; the names are the same
        page, written = without_dtypes(page), without_dtypes(written)
    assert written == page, "write it again: python tests/python/operator_page.py > docs/operators.md"


@pytest.mark.parametrize("name", operator_page.REFERENCE)
def test_the_references_operators_are_converted(name):
    registered = {operator_page.schema_name(schema) for schema in converter_schemas()}
    assert name in registered or operator_page.functional(name) in registered


def test_what_stays_in_pytorch_is_not_converted():
    registered = {operator_page.schema_name(schema).split(".")[0] for schema in converter_schemas()}
    listed = {name for reason in operator_page.STAYS for name in operator_page.staying(reason)}
    assert not registered & listed


def test_schemas_of_torchvision_are_its_own():
    ours = [schema for schema in converter_schemas() if schema.startswith("torchvision::")]
    assert len(ours) == 6
    for schema in ours:
        assert schema == str(getattr(torch.ops.torchvision, operator_page.schema_name(schema).split("::")[1]).default._schema)
