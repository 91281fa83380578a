"""The calls: one function per call, and the rules that apply to all of them."""
