require("edge.runner").run("access")
