require("edge.runner").run("header_filter")
