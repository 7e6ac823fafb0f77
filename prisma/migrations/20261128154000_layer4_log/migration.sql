CREATE TABLE l4_traffic (
    step INTEGER NOT NULL,
    at TIMESTAMPTZ(3) NOT NULL,
    site_id UUID NOT NULL,
    node_id UUID NOT NULL,
    country TEXT NOT NULL,
    outcome TEXT NOT NULL,
    sessions BIGINT NOT NULL,
    bytes BIGINT NOT NULL,

    CONSTRAINT l4_traffic_pkey PRIMARY KEY (site_id,step,at,node_id,country,outcome)
) PARTITION BY RANGE (step, at);

CREATE TABLE l4_log (
    at TIMESTAMPTZ(3) NOT NULL,
    id UUID NOT NULL,
    site_id UUID NOT NULL,
    forward_id UUID NOT NULL,
    node_id UUID NOT NULL,
    protocol TEXT NOT NULL,
    port INTEGER NOT NULL,
    address INET NOT NULL,
    country TEXT NOT NULL,
    isp TEXT NOT NULL,
    status SMALLINT NOT NULL,
    outcome TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    request_bytes BIGINT NOT NULL,
    session_time INTEGER NOT NULL,
    upstream TEXT NOT NULL
) PARTITION BY RANGE (at);

CREATE INDEX l4_log_site_id_at_id_idx ON l4_log(site_id, at, id);
