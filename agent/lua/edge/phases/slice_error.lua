edge.slice_error()
