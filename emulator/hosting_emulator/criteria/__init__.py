"""Criteria: the comparison language of stories, the SDK, the CLI and the control API.

Every field and filter has a declared type. The type of a value determines how the value is
compared. A criterion that can never match is refused, and the error gives its path.

`value_types` defines the base class of the types, and `comparisons` defines the comparison words.
`request_filters` defines the types of request filters, and `response_types` the types of responses.
"""
