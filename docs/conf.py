"""How the pages are built: `make docs`."""

import json
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

from class_members import documented_methods, documented_properties

import dssc
from dssc.cli.main import main

os.environ["DASK_LOGGING__DISTRIBUTED"] = "error"  # workers of a tutorial say when they start

project = "dssc"
author = "The dssc developers"
version = release = dssc.__version__
# The versions that have a date.
RELEASES = re.findall(
    r"^## ([\d.]+) \(\d{4}-\d\d-\d\d\)$",
    (Path(__file__).parents[1] / "CHANGELOG.md").read_text("utf-8"),
    re.M,
)

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
myst_enable_extensions = ["dollarmath", "amsmath", "attrs_inline", "colon_fence"]
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
    "within_subsection_order": "tutorial_order.TutorialOrder",
    "capture_repr": (),  # only what is printed
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "write_computation_times": False,
    "remove_config_comments": True,
}

html_math_renderer = "mathml"
html_theme = "furo"
html_title = "dssc"
html_static_path = ["_static"]
html_css_files = ["extra.css"]
html_js_files = ["site.js"]
html_favicon = "_static/logo.svg"
html_theme_options = {
    "light_logo": "logo.svg",
    "dark_logo": "logo.svg",
    "light_css_variables": {"color-brand-primary": "#1d4ed8", "color-brand-content": "#1d4ed8"},
    "dark_css_variables": {"color-brand-primary": "#7cb0ff", "color-brand-content": "#7cb0ff"},
    "top_of_page_buttons": [],
}
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
        "sidebar/versions.html",
    ]
}
html_show_sourcelink = False
html_show_copyright = False


def install_by_name(app, name, source):
    """Install the package by its name on the pages of a release, which index pages offer."""
    if release in RELEASES:
        source[0] = re.sub(r"(?<=pip install )('?)\.(?=\s|\[)", rf"\1{project}", source[0])
        source[0] = source[0].replace("  # in a checkout", "")


def write_report(app, error):
    """Write the example of a report that the pages link to."""
    if error is None and app.builder.format == "html":
        report = Path(app.outdir) / "example_report.html"
        if main(["demo", "--report", str(report), "--force", "--quiet"]) != 0:
            raise RuntimeError("the demo did not reach its tolerance")


def write_versions(app, error):
    """List the published versions for site.js: stable, main, and releases that have a date."""
    if error is None and app.builder.format == "html":
        titles = {"stable": "stable", "dev": "dev (main)"} | {name: name for name in RELEASES}
        versions = [{"folder": folder, "title": title} for folder, title in titles.items()]
        (Path(app.outdir) / "versions.json").write_text(json.dumps(versions), "utf-8")


def setup(app):
    """Register the steps before and after the pages."""
    app.connect("source-read", install_by_name)
    app.connect("build-finished", write_report)
    app.connect("build-finished", write_versions)
