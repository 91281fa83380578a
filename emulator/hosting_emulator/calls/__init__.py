"""The calls: one function for each call, and the rules that all calls share."""
