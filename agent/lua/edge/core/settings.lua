-- What the rendered tree tells Lua once, before the workers start: dir, generation, resolvers, poolPerName, slices, brotli, webp,
-- ports, relay, node, refuses, compression, blocks, cache_reserve.
return {}
