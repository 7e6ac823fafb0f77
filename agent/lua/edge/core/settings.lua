-- Settings from the rendered tree, filled before workers start: dir, generation, resolvers, connections (of a worker),
-- poolPerName, slices, brotli, webp, ports, relay, node, refuses, compression, blocks, cache_reserve, cache_inactive
-- (seconds).
return {}
