edge.to_relay()
