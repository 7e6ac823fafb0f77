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
    limits_10 = shared.limits_10,
    limits_60 = shared.limits_60,
    limits_600 = shared.limits_600,
    limits_3600 = shared.limits_3600,
    bots = shared.bots,
}
