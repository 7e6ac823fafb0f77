require("edge.simulate.phases").header_filter()
