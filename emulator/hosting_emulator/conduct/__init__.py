"""Conduct rules: the emulator watches its clients and reports behavior that may fail against the
real service.

Each rule is based on a sentence from the contract or from an RFC. A judge observes each exchange
after it has ended. Rules apply to what the client does, never to what the service does. Judges read
the request log and never change a world.
"""
