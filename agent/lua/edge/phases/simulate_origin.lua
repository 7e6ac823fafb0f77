require("edge.simulate.phases").origin()
