"""Variation: other answers that the contract allows as well, drawn from a seed."""
