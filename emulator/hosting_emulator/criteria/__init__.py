"""Criteria: the language in which stories, the SDK, the CLI and the control API select and compare.

Every word has a declared type. A value that no response and no request can ever have is refused where
it is written, and a comparison is made in the type of the value. `values` holds the types and the
comparisons, `requests` the filters of requests, `responses` the shapes of responses.
"""
