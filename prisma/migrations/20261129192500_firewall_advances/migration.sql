CREATE TABLE firewall_advances (
    id uuid PRIMARY KEY,
    site_id uuid NOT NULL REFERENCES sites(id) ON UPDATE CASCADE ON DELETE CASCADE,
    type smallint NOT NULL,
    rule text NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);
CREATE UNIQUE INDEX firewall_advances_site_id_key ON firewall_advances (site_id);

SELECT watch('firewall_advances');
SELECT track('firewall_advances');
