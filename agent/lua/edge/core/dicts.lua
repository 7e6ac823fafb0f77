-- The shared dictionaries, opened only here. nginx.conf describes their contents.
local shared = ngx.shared

return {
    docs = shared.docs,
    absent = shared.absent,
    changes = shared.changes,
    marks = shared.marks,
    urls = shared.urls,
    peers = shared.peers,
    names = shared.names,
    simulated = shared.simulated,
    blocks = shared.blocks,
    anti_cc = shared.anti_cc,
    leaders = shared.leaders,
    limits = shared.limits,
    bots = shared.bots,
}
