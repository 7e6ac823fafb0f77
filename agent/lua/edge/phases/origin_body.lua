require("edge.runner").run("origin_body")
