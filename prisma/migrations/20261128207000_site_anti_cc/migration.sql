CREATE TABLE site_anti_ccs (
    id UUID NOT NULL,
    site_id UUID NOT NULL,
    url_regex TEXT NOT NULL,
    header TEXT NOT NULL,
    header_value TEXT NOT NULL,
    mode INTEGER NOT NULL,
    frequency INTEGER NOT NULL,
    seconds INTEGER NOT NULL,
    site_rate INTEGER NOT NULL,
    error_percent INTEGER NOT NULL,
    origin_ms INTEGER NOT NULL,
    raise_minutes INTEGER NOT NULL,
    difficulty INTEGER NOT NULL,
    pass_seconds INTEGER NOT NULL,
    monitor BOOLEAN NOT NULL,
    ends_at TIMESTAMPTZ(3),
    priority INTEGER NOT NULL,
    enabled BOOLEAN NOT NULL,
    created_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT site_anti_ccs_pkey PRIMARY KEY (id)
);

CREATE INDEX site_anti_ccs_site_id_priority_id_idx ON site_anti_ccs(site_id, priority, id);

ALTER TABLE site_anti_ccs ADD CONSTRAINT site_anti_ccs_site_id_fkey FOREIGN KEY (site_id) REFERENCES sites(id) ON DELETE CASCADE ON UPDATE CASCADE;

SELECT watch('site_anti_ccs');
SELECT track('site_anti_ccs');
