"""Criteria: the comparison language of stories, the SDK, the CLI and the control API.

Every word has a declared type. A criterion that can never match is refused at its position in the
file, and a comparison follows the type of the value. `value_types` contains the types,
`comparisons` the comparisons, `request_filters` the filters for requests, and `response_types` the
types of responses.
"""
