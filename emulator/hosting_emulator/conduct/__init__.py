"""Conduct: the emulator watches its client, and reports what may fail with the real service.

Each rule is based on a sentence from the contract or from an RFC. A judge observes each exchange
with a client after the exchange has ended. Rules judge what the client does, never what the service
does. Judging only reads the request log and never changes a world.
"""
