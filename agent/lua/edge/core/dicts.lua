-- The shared dictionaries, opened here and nowhere else. What each holds is said in nginx.conf.
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
}
