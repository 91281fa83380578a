"""Generates the reference, the pages in `docs/reference`, from the declarations in the code.

`python -m reference` writes the pages, and `make record` runs this command. Each module renders the
page or the sections about one topic. `pages.py` lists the pages.
"""
