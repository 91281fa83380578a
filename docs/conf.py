"""The Sphinx configuration for the documentation site, which `make docs` builds."""

from pathlib import Path

from docutils.nodes import document
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx

project = "hosting-emulator"
html_title = project
html_theme = "furo"
html_static_path = ["site"]
templates_path = ["templates"]
html_css_files = ["site.css"]
html_js_files = [("site.js", {"defer": "defer"})]
html_show_sphinx = html_show_copyright = html_copy_source = False
extensions = ["myst_parser"]
myst_heading_anchors = 3  # Generate the same anchors as GitHub, so that links work in both.
highlight_language = "text"


def without_links_elsewhere(app: Sphinx, page: document) -> None:
    """Replace a link to a file without a page on the site, such as a source file, with the link's text."""
    folder = Path(app.srcdir)
    for link in list(page.findall(pending_xref)):
        target = link["reftarget"]
        if target not in app.env.found_docs and any(
            (start / name).exists()
            for start in (folder, folder.parent)
            for name in (target, f"{target}.md")
        ):
            link.replace_self(link[0])


def setup(app: Sphinx) -> None:
    """Register the event handler for each page that Sphinx reads."""
    app.connect("doctree-read", without_links_elsewhere)
