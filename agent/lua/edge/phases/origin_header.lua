edge.origin_header()
