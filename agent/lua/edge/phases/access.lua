edge.access()
