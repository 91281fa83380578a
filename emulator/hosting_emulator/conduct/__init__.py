"""Conduct: the emulator watches its client, and reports behavior that will fail with the real service.

Each rule is based on a sentence of the contract or of HTTP, and sees every exchange of a world after the
exchange has ended. Rules judge the client's actions, never the service's. They only read the request
log, and change nothing.
"""
