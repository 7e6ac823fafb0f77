require("edge.runner").run("origin_header")
