edge.wait()
