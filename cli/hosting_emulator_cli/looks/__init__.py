"""How a terminal is written to: colours, panels and bars, by rich, which is loaded when there is one.

What is piped never comes here: it is plain text or JSON (`output`).
"""
