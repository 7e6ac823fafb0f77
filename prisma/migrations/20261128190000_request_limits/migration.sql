CREATE TABLE frequencies (
    id UUID NOT NULL,
    site_id UUID NOT NULL,
    url_regex TEXT NOT NULL,
    seconds INTEGER NOT NULL,
    times INTEGER NOT NULL,
    type INTEGER NOT NULL,
    header TEXT NOT NULL,
    status INTEGER NOT NULL,
    monitor BOOLEAN NOT NULL,
    priority INTEGER NOT NULL,
    enabled BOOLEAN NOT NULL,
    created_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT frequencies_pkey PRIMARY KEY (id)
);

CREATE TABLE limit_reqs (
    id UUID NOT NULL,
    site_id UUID NOT NULL,
    url_regex TEXT NOT NULL,
    rate INTEGER NOT NULL,
    burst INTEGER NOT NULL,
    queue BOOLEAN NOT NULL,
    type INTEGER NOT NULL,
    header TEXT NOT NULL,
    status INTEGER NOT NULL,
    monitor BOOLEAN NOT NULL,
    priority INTEGER NOT NULL,
    enabled BOOLEAN NOT NULL,
    created_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT limit_reqs_pkey PRIMARY KEY (id)
);

CREATE INDEX frequencies_site_id_priority_id_idx ON frequencies(site_id, priority, id);

CREATE INDEX limit_reqs_site_id_priority_id_idx ON limit_reqs(site_id, priority, id);

ALTER TABLE frequencies ADD CONSTRAINT frequencies_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE limit_reqs ADD CONSTRAINT limit_reqs_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON DELETE CASCADE ON UPDATE CASCADE;

SELECT watch('frequencies');
SELECT watch('limit_reqs');
SELECT track('frequencies');
SELECT track('limit_reqs');
