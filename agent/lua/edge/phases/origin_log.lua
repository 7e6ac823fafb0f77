edge.origin_log()
