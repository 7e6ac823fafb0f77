require("edge.runner").run("origin_access")
