edge.origin_body()
