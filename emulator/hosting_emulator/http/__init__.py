"""HTTP with aiohttp: framing, guard, TLS, writing, and the handlers of the public API."""
