edge.log()
