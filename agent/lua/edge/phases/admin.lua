edge.admin()
