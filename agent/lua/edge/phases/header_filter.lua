edge.header_filter()
