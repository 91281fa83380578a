"""Generates the reference: the pages in `docs/reference`, from the declarations in the code.

`python -m reference`, which `make record` runs, writes the pages. Each module renders one topic.
`pages.py` lists them.
"""
