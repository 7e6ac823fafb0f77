require("edge.runner").run("origin_log")
