"""The trail of an exchange, as people read it: each decision on its way, in order, as a sentence.

Built when somebody looks, from the references an entry of the request log kept. Each room tells one
part; `telling` puts them in order.
"""

from hosting_emulator.engine.trails.telling import STEPS, Trails

__all__ = ["STEPS", "Trails"]
