"""The documentation as a site with search: `make docs`. Sphinx reads this file."""

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
myst_heading_anchors = 3  # as GitHub names them: links lead on in both
highlight_language = "text"


def without_links_elsewhere(app: Sphinx, page: document) -> None:
    """Leave a link's text alone where it leads to a file of the repository that has no page here."""
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
    """Do it with each page that is read."""
    app.connect("doctree-read", without_links_elsewhere)
