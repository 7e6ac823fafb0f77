CREATE TABLE robots (
    id uuid PRIMARY KEY,
    site_id uuid NOT NULL REFERENCES sites(id) ON UPDATE CASCADE ON DELETE CASCADE,
    enabled boolean NOT NULL,
    groups jsonb NOT NULL,
    sitemaps text[],
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);
CREATE UNIQUE INDEX robots_site_id_key ON robots (site_id);

SELECT watch('robots');
SELECT track('robots');
