edge.relay_access()
