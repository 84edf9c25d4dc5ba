"""The page of a report: methods that the reports of compile() and of loaded modules share."""

import html
import os

from torchtrt import _errors, _libraries


def _reject(message: str, advice: str):
    raise _errors.CompileError(f"[C003] {message}\n  {advice}")


def _parts(report, extension):
    """The module, and the report where compile() made it in this process: that of a loaded module is read from the module."""
    return report._module, report if isinstance(report, extension.Report) else None


def to_html(self, path, profile=None, verification=None) -> None:
    """Writes a page about the compiled module: one HTML file that needs no network. It shows where each operator runs and why, the graph
    down to the steps of engines, memory and precision; with `profile`, which torchtrt.profile gave, a time line and a roofline; with
    `verification`, which torchtrt.verify gave, the differences from PyTorch. Raises CompileError where the file cannot be written."""
    extension = _libraries.extension()
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
        _reject("no file was given to write the page to", 'to_html("report.html")')
    for name, part, kind in [("profile", profile, extension.Profile), ("verification", verification, extension.Verification)]:
        if part is not None and not isinstance(part, kind):
            _reject(f"{name} is a {type(part).__name__}", f"expected what torchtrt.{'profile' if kind is extension.Profile else 'verify'} gave, or None")
    with _errors.translated_errors():
        extension.write_page(os.fsdecode(path), *_parts(self, extension), profile, verification)


def _repr_html_(self) -> str:
    """Returns the page in a frame, for notebooks."""
    page = _libraries.extension().page(*_parts(self, _libraries.extension())).decode(errors="replace")
    # The frame may run its script, but sees neither the notebook nor the network.
    return (f'<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts" title="Report of torchtrt" '
            'style="width: 100%; height: 640px; border: 1px solid #8888; border-radius: 6px"></iframe>')
