require("edge.simulate.phases").origin_access()
