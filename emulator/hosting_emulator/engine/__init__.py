"""The engine owns the worlds and runs the steps of each exchange. It does not open any sockets."""
