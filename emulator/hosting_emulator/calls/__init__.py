"""The calls: one function for each thing a client can request, and the rules they share."""
