"""The emulator's own HTML pages: plain documents, made of strings, without scripts.

Nothing here knows a request or a world: a page is a function of what it is given.
"""
