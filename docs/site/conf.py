"""Sphinx's settings. docs/site/build.py gathers the pages in build/docs/source, at the paths that they have in the repository."""

import builtins
import os
import sys
from pathlib import Path

from sphinx import addnodes

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import contents  # noqa: E402
import pictures  # noqa: E402
import stubs  # noqa: E402

BUILD = Path(os.environ["TORCHTRT_DOCS"])

project = "torchtrt"
copyright = "the authors of torchtrt"  # noqa: A001 - Sphinx's name
version = release = os.environ["TORCHTRT_VERSION"]
root_doc = contents.HOME.removesuffix(".md")
exclude_patterns = [f"{contents.TUTORIALS}/**"]  # sphinx-gallery reads these, and writes pages to docs/tutorials
extensions = ["breathe", "myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton", "sphinx_gallery.gen_gallery"]

# Unknown names are warnings, and warnings fail the build. Names of Python, torch and the C++ library have no page here.
nitpicky = True
nitpick_ignore_regex = [(r"py:.*", r"(?!torchtrt\.).*|torchtrt\.(.*\.)?_.*"), (r"cpp:.*", r".*")]
show_warning_types = True
default_role = "literal"
maximum_signature_line_length = 90  # a longer one has a line for each argument

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
# A git host shows a dollar sign as one.
myst_linkify_fuzzy_links = False

breathe_projects = {"torchtrt": str(BUILD / "doxygen" / "xml")}
breathe_default_project = "torchtrt"
breathe_default_members = ("members",)
breathe_show_include = False

autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "undoc-members": True, "exclude-members": "__init__, __new__"}
autodoc_mock_imports = ["apache_beam", "pytriton", "pyspark", "ray", "pandas"]
napoleon_numpy_docstring = False
napoleon_use_rtype = False

sphinx_gallery_conf = {
    "examples_dirs": [str(BUILD / "source" / contents.TUTORIALS)],
    "gallery_dirs": [str(BUILD / "source" / contents.GALLERY)],
    "filename_pattern": r"\.py$",
    "within_subsection_order": "tutorials.Order",
    "image_scrapers": (),
    "reset_modules": ("tutorials.reset",),
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_signature": False,
    "plot_gallery": os.environ.get("TORCHTRT_TUTORIALS", "1") == "1",
    "abort_on_example_error": False,
    "only_warn_on_example_error": True,
    "write_computation_times": False,  # that page wants scripts from elsewhere
    "run_stale_examples": True,
}
# A namespace stands in many headers, and each header has a page.
suppress_warnings = ["duplicate_declaration.cpp"]

html_theme = "furo"
html_title = "torchtrt"
html_static_path = ["style.css", str(BUILD / "static")]
html_css_files = ["style.css"]
html_copy_source = False
html_search_scorer = str(HERE / "scorer.js")
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}
pygments_style = "friendly"
pygments_dark_style = "monokai"


def read(app, docname, source) -> None:
    """A page of the repository gets the site's links and, if it is an index, the navigation."""
    page = f"{docname}.md"
    if (contents.ROOT / page).is_file():
        source[0] = contents.with_toctree(page, contents.with_site_links(page, source[0]))
    # Messages that tutorials print name their file; its folder says nothing to a reader.
    source[0] = source[0].replace(f"{BUILD}/source/", "")


def signature(app, what, name, obj, options, arguments, result):
    return stubs.of(name) if what in ("function", "method", "class", "exception") else None


def plain_types(app, doctree) -> None:
    """Keeps types of Python apart from names of the package: `float` in a signature would lead to torchtrt.dtype.float."""
    for reference in list(doctree.findall(addnodes.pending_xref)):
        if reference.get("refdomain") == "py" and hasattr(builtins, reference.get("reftarget", "")):
            reference.replace_self(reference.children)


def docstring(app, what, name, obj, options, lines):
    """A sample in a module's docstring is an indented block without more: here it becomes code."""
    if what != "module":
        return
    result, in_sample = [], False
    for line in lines:
        is_sample = line.startswith("    ") or (in_sample and not line.strip())
        if is_sample and not in_sample:
            result += [".. code-block:: python", ""]
        result.append(line)
        in_sample = is_sample
    lines[:] = result


def setup(app):
    app.connect("source-read", read)
    app.connect("doctree-read", pictures.place)
    app.connect("doctree-read", plain_types)
    app.connect("autodoc-process-signature", signature)
    app.connect("autodoc-process-docstring", docstring)
    return {"parallel_read_safe": False}
