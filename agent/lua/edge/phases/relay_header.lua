edge.relay_header()
