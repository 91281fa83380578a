"""The manual, which a running emulator shows: README.md and the Markdown pages in `docs`.

In a wheel, the pages are in the package's `manual` folder. In a checkout, they are read from the
repository, and nothing has to be built.
"""
