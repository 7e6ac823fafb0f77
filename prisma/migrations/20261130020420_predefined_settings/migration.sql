-- The site whose settings new sites of an operator begin with. Without that site, they begin with the usual defaults.
CREATE TABLE predefined_settings (
    client_id uuid PRIMARY KEY REFERENCES clients(id) ON UPDATE CASCADE ON DELETE CASCADE,
    site_id uuid NOT NULL REFERENCES sites(id) ON UPDATE CASCADE ON DELETE CASCADE,
    settings text[],
    updated_at timestamp(3) with time zone NOT NULL
);
CREATE INDEX predefined_settings_site_id_idx ON predefined_settings (site_id);

SELECT watch('predefined_settings');
