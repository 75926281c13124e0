"""Sphinx's settings for the site. tools/site_pages.py puts this file beside the pages that it collects."""

import os

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
    "show_toc_level": 2, "navigation_with_keys": False, "header_links_before_dropdown": 6,
    "navbar_end": ["theme-switcher"], "secondary_sidebar_items": ["page-toc"], "footer_start": ["copyright"],
    "footer_end": [],
}  # fmt: skip
html_sidebars = {"first_steps": [], "whats_new": []}  # pages of their own, without a list of neighbours
html_show_sourcelink = False
exclude_patterns = ["gallery_sources/*"]

autosummary_generate = True
autodoc_typehints = "none"  # The docstrings have the types.
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
# A pygments lexer stops at ellipses, which stand in some examples for figures.
suppress_warnings = ["misc.highlighting_failure"]

sphinx_gallery_conf = {
    "examples_dirs": "gallery_sources", "gallery_dirs": "gallery", "filename_pattern": r"/plot_",
    "abort_on_example_error": True, "download_all_examples": False, "show_memory": False, "show_signature": False,
    "min_reported_time": 1e9, "within_subsection_order": "FileNameSortKey",
}  # fmt: skip
os.environ.setdefault("CLGRAPH_DEVICE", "cpu")  # Examples take the CPU, so that every machine draws the same pictures.
