require("edge.simulate.phases").origin_header()
