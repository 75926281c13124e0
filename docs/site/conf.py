"""Sphinx's settings for the site. tools/site_pages.py puts this file beside the pages that it collects."""

import os
from typing import Any

from clgraph import __version__

project = "clgraph"
author = "the clgraph developers"
copyright = "2026, the clgraph developers"
release = version = __version__
extensions = [
    "myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx_gallery.gen_gallery",
]  # fmt: skip

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
html_theme = "pydata_sphinx_theme"
html_title = "clgraph"
html_theme_options = {
    "show_toc_level": 2, "navigation_with_keys": False, "header_links_before_dropdown": 7,
    "navbar_end": ["theme-switcher"], "secondary_sidebar_items": ["page-toc"], "footer_start": ["copyright"],
    "footer_end": [],
}  # fmt: skip
html_static_path = ["static"]
html_css_files = ["site.css"]
html_sidebars = {"first_steps": [], "whats_new": []}  # pages of their own, without a list of neighbours
html_show_sourcelink = False
templates_path = ["templates"]
exclude_patterns = ["gallery_sources/*"]

autosummary_generate = True
autodoc_typehints = "none"  # The docstrings have the types.
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
# A pygments lexer stops at ellipses, which stand in some examples for figures.
suppress_warnings = ["misc.highlighting_failure"]

sphinx_gallery_conf = {
    "examples_dirs": "gallery_sources", "gallery_dirs": "gallery", "capture_repr": (), "filename_pattern": r"/plot_",
    "abort_on_example_error": True, "download_all_examples": False, "show_memory": False, "show_signature": False,
    "min_reported_time": 1e9, "within_subsection_order": "FileNameSortKey",
}  # fmt: skip
os.environ.setdefault("CLGRAPH_DEVICE", "cpu")  # Examples take the CPU, so that every machine draws the same pictures.


def skip_member(_app: Any, what: str, _name: str, member: Any, skip: bool, _options: Any) -> bool:
    """Leave out what a class inherits from other packages, and fields, which its docstring lists."""
    if what != "class":
        return skip
    code = getattr(member, "fget", None) or getattr(member, "func", None) or member
    return skip or not str(getattr(code, "__module__", "")).startswith("clgraph")


def setup(app: Any) -> None:
    app.connect("autodoc-skip-member", skip_member)
