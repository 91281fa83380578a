"""The page at the control URL: a frame of HTML here, and ES modules in `static/` that fill it."""
