ALTER TABLE licenses ADD COLUMN offer_name text;
ALTER TABLE licenses ADD COLUMN monitor_seconds integer DEFAULT 0 NOT NULL;

CREATE TABLE license_offers (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    days integer NOT NULL,
    site_limit integer NOT NULL,
    node_limit integer NOT NULL,
    zone_limit integer NOT NULL,
    domain_limit integer NOT NULL,
    auto_certificate_limit integer NOT NULL,
    layer4 boolean NOT NULL,
    monitor_seconds integer NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);
CREATE UNIQUE INDEX license_offers_name_key ON license_offers (name);

-- Orders keep the terms of their day, whatever becomes of the offer.
CREATE TABLE license_orders (
    id uuid PRIMARY KEY,
    client_id uuid NOT NULL REFERENCES clients(id) ON UPDATE CASCADE ON DELETE CASCADE,
    offer_id uuid REFERENCES license_offers(id) ON UPDATE CASCADE ON DELETE SET NULL,
    name text NOT NULL,
    days integer NOT NULL,
    site_limit integer NOT NULL,
    node_limit integer NOT NULL,
    zone_limit integer NOT NULL,
    domain_limit integer NOT NULL,
    auto_certificate_limit integer NOT NULL,
    layer4 boolean NOT NULL,
    monitor_seconds integer NOT NULL,
    ends_at timestamp(3) with time zone,
    created_by text NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL
);
CREATE INDEX license_orders_client_id_id_idx ON license_orders (client_id, id);
CREATE INDEX license_orders_offer_id_idx ON license_orders (offer_id);

SELECT watch('license_offers');
SELECT watch('license_orders');
