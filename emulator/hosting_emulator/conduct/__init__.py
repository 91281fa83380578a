"""Conduct: the emulator watches its client, and says where the client will not survive the service.

Rules, each from a sentence of the contract or of HTTP, see every exchange of a world after it is
over. They judge what the client did, never what the service did to it; they read the request log
and nothing else, and change nothing.
"""
