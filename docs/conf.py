"""How the pages are built: `make docs`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

from class_members import documented_methods, documented_properties

import dssc
from dssc.cli.main import main

project = "dssc"
author = "The dssc developers"
version = release = dssc.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
    "mathml",
]
exclude_patterns = ["gallery/*.md5"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3
suppress_warnings = ["config.cache"]  # settings that contain functions cannot be cached

autosummary_generate = True
autosummary_context = {
    "documented_methods": documented_methods,
    "documented_properties": documented_properties,
}
templates_path = ["_templates"]
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_ivar = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py",
    "ignore_pattern": r"(demo|guide_pictures|readme_picture)\.py",
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,
    "remove_config_comments": True,
}

html_math_renderer = "mathml"
html_theme = "furo"
html_title = "dssc"
html_static_path = ["_static"]
html_css_files = ["extra.css"]
html_show_sourcelink = False
html_show_copyright = False


def write_report(app, error):
    """Write the example of a report that the pages link to."""
    if error is None and app.builder.format == "html":
        report = Path(app.outdir) / "example_report.html"
        if main(["demo", "--report", str(report), "--force", "--quiet"]) != 0:
            raise RuntimeError("the demo did not reach its tolerance")


def setup(app):
    """Register the step that follows the pages."""
    app.connect("build-finished", write_report)
