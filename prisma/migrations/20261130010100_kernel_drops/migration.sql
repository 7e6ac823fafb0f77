CREATE TABLE kernel_drops (
    step INTEGER NOT NULL,
    at TIMESTAMPTZ(3) NOT NULL,
    zone_id UUID NOT NULL,
    node_id UUID NOT NULL,
    cause TEXT NOT NULL,
    packets BIGINT NOT NULL,
    bytes BIGINT NOT NULL,

    CONSTRAINT kernel_drops_pkey PRIMARY KEY (zone_id,step,at,node_id,cause)
) PARTITION BY RANGE (step, at);

CREATE TABLE kernel_drop_counters (
    id BIGSERIAL NOT NULL,
    node_id UUID NOT NULL REFERENCES nodes(id) ON UPDATE CASCADE ON DELETE CASCADE,
    agent_started_at TEXT NOT NULL,
    counters JSONB NOT NULL DEFAULT '{}',

    CONSTRAINT kernel_drop_counters_pkey PRIMARY KEY (node_id,agent_started_at)
);

-- Packets from before the upgrade have no known time, so running agents count from here.
INSERT INTO kernel_drop_counters (node_id, agent_started_at, counters)
SELECT s.node_id, s.load -> 'dropped' ->> 'since', coalesce((
    SELECT jsonb_object_agg(d.cause, jsonb_build_object('packets', d.tally -> 'packets', 'bytes', d.tally -> 'bytes'))
    FROM jsonb_each(s.load -> 'dropped') AS d (cause, tally) WHERE jsonb_typeof(d.tally) = 'object'), '{}')
FROM node_states s
WHERE jsonb_typeof(s.load -> 'dropped') = 'object' AND s.load -> 'dropped' ? 'since';
