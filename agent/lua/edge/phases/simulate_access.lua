require("edge.simulate.phases").access()
