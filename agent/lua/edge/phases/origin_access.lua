edge.origin_access()
