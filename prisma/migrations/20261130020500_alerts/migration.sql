CREATE TABLE alerts (
    id uuid PRIMARY KEY,
    client_id uuid NOT NULL REFERENCES clients(id) ON UPDATE CASCADE ON DELETE CASCADE,
    zone_id uuid REFERENCES zones(id) ON UPDATE CASCADE ON DELETE SET NULL,
    site_id uuid REFERENCES sites(id) ON UPDATE CASCADE ON DELETE SET NULL,
    site_name text,
    owner_id uuid,
    kind text NOT NULL,
    object_id uuid NOT NULL,
    name text NOT NULL,
    began_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    ended_at timestamp(3) with time zone
);
CREATE UNIQUE INDEX alerts_open_key ON alerts (kind, object_id) WHERE ended_at IS NULL;
CREATE INDEX alerts_client_id_began_at_idx ON alerts (client_id, began_at);
CREATE INDEX alerts_owner_id_began_at_idx ON alerts (owner_id, began_at);
CREATE INDEX alerts_ended_at_idx ON alerts (ended_at);
CREATE INDEX alerts_site_id_idx ON alerts (site_id);
CREATE INDEX alerts_zone_id_idx ON alerts (zone_id);

CREATE TABLE alert_node_link (
    id boolean PRIMARY KEY DEFAULT TRUE CHECK (id),
    up_since timestamp(3) with time zone NOT NULL,
    seen_at timestamp(3) with time zone NOT NULL
);
