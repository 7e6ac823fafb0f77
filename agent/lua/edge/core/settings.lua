-- Settings from the rendered tree, filled before workers start: dir, generation, resolvers, poolPerName, slices,
-- brotli, webp, ports, relay, node, refuses, compression, blocks, cache_reserve, cache_inactive (seconds).
return {}
