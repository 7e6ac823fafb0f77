edge.own_error()
