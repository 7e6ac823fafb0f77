DROP TABLE traffic_1h;
DROP TABLE traffic_5m;

CREATE TABLE traffic (
    step INTEGER NOT NULL,
    at TIMESTAMPTZ(3) NOT NULL,
    site_id UUID NOT NULL,
    domain_id UUID NOT NULL,
    node_id UUID NOT NULL,
    requests BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    request_bytes BIGINT NOT NULL,
    hits BIGINT NOT NULL,
    to_upstream BIGINT NOT NULL,
    ipv6 BIGINT NOT NULL,
    s2 BIGINT NOT NULL,
    s3 BIGINT NOT NULL,
    s4 BIGINT NOT NULL,
    s5 BIGINT NOT NULL,
    s9 BIGINT NOT NULL,

    CONSTRAINT traffic_pkey PRIMARY KEY (site_id,step,at,domain_id,node_id)
) PARTITION BY RANGE (step, at);

CREATE TABLE top_values (
    at TIMESTAMPTZ(3) NOT NULL,
    site_id UUID NOT NULL,
    type SMALLINT NOT NULL,
    domain_id UUID NOT NULL,
    node_id UUID NOT NULL,
    value TEXT NOT NULL,
    requests BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    error BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT top_values_pkey PRIMARY KEY (site_id,type,at,domain_id,node_id,value)
) PARTITION BY RANGE (at);

CREATE TABLE top_groups (
    at TIMESTAMPTZ(3) NOT NULL,
    site_id UUID NOT NULL,
    type SMALLINT NOT NULL,
    node_id UUID NOT NULL,
    size INTEGER NOT NULL,
    removed BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT top_groups_pkey PRIMARY KEY (site_id,type,at,node_id)
) PARTITION BY RANGE (at);

CREATE TABLE access_log (
    at TIMESTAMPTZ(3) NOT NULL,
    id UUID NOT NULL,
    site_id UUID NOT NULL,
    domain_id UUID NOT NULL,
    node_id UUID NOT NULL,
    status SMALLINT NOT NULL,
    port INTEGER NOT NULL,
    bytes BIGINT NOT NULL,
    request_bytes BIGINT NOT NULL,
    request_time INTEGER NOT NULL,
    upstream_time INTEGER,
    address INET NOT NULL,
    country TEXT NOT NULL,
    province TEXT NOT NULL,
    isp TEXT NOT NULL,
    host TEXT NOT NULL,
    method TEXT NOT NULL,
    scheme TEXT NOT NULL,
    http_version TEXT NOT NULL,
    uri TEXT NOT NULL,
    args TEXT NOT NULL,
    upstream TEXT NOT NULL,
    cache TEXT NOT NULL,
    user_agent TEXT NOT NULL,
    referer TEXT NOT NULL,
    cause TEXT NOT NULL,
    rule TEXT NOT NULL
) PARTITION BY RANGE (at);

CREATE INDEX access_log_site_id_at_id_idx ON access_log(site_id, at, id);

CREATE INDEX access_log_id_idx ON access_log(id);
