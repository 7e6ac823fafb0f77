require("edge.runner").run("admin")
