CREATE TABLE limit_conns (
    id UUID NOT NULL,
    site_id UUID NOT NULL,
    url_regex TEXT NOT NULL,
    max INTEGER NOT NULL,
    type INTEGER NOT NULL,
    header TEXT NOT NULL,
    status INTEGER NOT NULL,
    monitor BOOLEAN NOT NULL,
    priority INTEGER NOT NULL,
    enabled BOOLEAN NOT NULL,
    created_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT limit_conns_pkey PRIMARY KEY (id)
);

CREATE INDEX limit_conns_site_id_priority_id_idx ON limit_conns(site_id, priority, id);

ALTER TABLE limit_conns ADD CONSTRAINT limit_conns_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON DELETE CASCADE ON UPDATE CASCADE;

SELECT watch('limit_conns');
SELECT track('limit_conns');
