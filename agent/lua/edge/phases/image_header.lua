edge.image_header()
