"""The engine owns the worlds and runs the steps of each exchange. The engine does not open any
sockets.
"""
