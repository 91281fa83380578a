"""The manual: the Markdown pages of README.md and `docs`, which a running emulator shows.

A wheel contains the pages in the package's `manual` folder. In a checkout, they are the files of
the repository. Nothing has to be built.
"""
