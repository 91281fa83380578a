"""The generated reference: pages in `docs/reference` that are written from the code's declarations.

`python -m reference`, which `make record` runs, writes the pages. Each module renders one topic.
`pages.py` lists them.
"""
