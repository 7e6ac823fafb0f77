-- Customer and product that pay for the traffic of a site, from a time on. Rows outlive all three, because logs may
-- arrive late and months are read for years.
CREATE TABLE site_billings (
    id bigserial PRIMARY KEY,
    site_id uuid NOT NULL,
    since timestamp(3) with time zone NOT NULL,
    client_id uuid NOT NULL,
    zone_id uuid NOT NULL,
    owner_id uuid,
    product_id uuid NOT NULL
);
CREATE INDEX site_billings_site_id_id_idx ON site_billings(site_id, id);

-- Rounded down: a line of the same millisecond belongs to the new row.
CREATE FUNCTION record_site_billing() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  INSERT INTO site_billings (site_id, since, client_id, zone_id, owner_id, product_id)
    VALUES (NEW.id, date_trunc('milliseconds', clock_timestamp()), NEW.client_id, NEW.zone_id, NEW.owner_id, NEW.product_id);
  RETURN NULL;
END $$;
CREATE TRIGGER record_first_billing AFTER INSERT ON sites FOR EACH ROW EXECUTE FUNCTION record_site_billing();
CREATE TRIGGER record_billing AFTER UPDATE OF client_id, zone_id, owner_id, product_id ON sites FOR EACH ROW
  WHEN ((OLD.client_id, OLD.zone_id, OLD.owner_id, OLD.product_id)
    IS DISTINCT FROM (NEW.client_id, NEW.zone_id, NEW.owner_id, NEW.product_id))
  EXECUTE FUNCTION record_site_billing();
INSERT INTO site_billings (site_id, since, client_id, zone_id, owner_id, product_id)
  SELECT id, created_at, client_id, zone_id, owner_id, product_id FROM sites;

-- Name and price of a product from a time on. A month has the price of its end.
CREATE TABLE product_prices (
    id bigserial PRIMARY KEY,
    product_id uuid NOT NULL,
    since timestamp(3) with time zone NOT NULL,
    name text NOT NULL,
    traffic_price_cents integer NOT NULL
);
CREATE INDEX product_prices_product_id_id_idx ON product_prices(product_id, id);

CREATE FUNCTION record_product_price() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  INSERT INTO product_prices (product_id, since, name, traffic_price_cents)
    VALUES (NEW.id, date_trunc('milliseconds', clock_timestamp()), NEW.name, NEW.traffic_price_cents);
  RETURN NULL;
END $$;
CREATE TRIGGER record_first_price AFTER INSERT ON products FOR EACH ROW EXECUTE FUNCTION record_product_price();
CREATE TRIGGER record_price AFTER UPDATE OF name, traffic_price_cents ON products FOR EACH ROW
  WHEN ((OLD.name, OLD.traffic_price_cents) IS DISTINCT FROM (NEW.name, NEW.traffic_price_cents))
  EXECUTE FUNCTION record_product_price();
INSERT INTO product_prices (product_id, since, name, traffic_price_cents)
  SELECT id, created_at, name, traffic_price_cents FROM products;

-- Zones that a node has left. It may still send lines of their sites.
CREATE TABLE former_node_zones (
    node_id uuid NOT NULL REFERENCES nodes(id) ON UPDATE CASCADE ON DELETE CASCADE,
    -- No reference: lines of a removed zone are billed as well.
    zone_id uuid NOT NULL,
    left_at timestamp(3) with time zone NOT NULL,
    PRIMARY KEY (node_id, zone_id)
);
CREATE FUNCTION record_former_zone() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  INSERT INTO former_node_zones (node_id, zone_id, left_at) VALUES (NEW.id, OLD.zone_id, clock_timestamp())
    ON CONFLICT (node_id, zone_id) DO UPDATE SET left_at = excluded.left_at;
  RETURN NULL;
END $$;
CREATE TRIGGER record_former_zone AFTER UPDATE OF zone_id ON nodes FOR EACH ROW
  WHEN (OLD.zone_id IS DISTINCT FROM NEW.zone_id) EXECUTE FUNCTION record_former_zone();

-- With defaults, because processes of the release before write neither.
ALTER TABLE log_positions ADD COLUMN kind text DEFAULT '' NOT NULL, ADD COLUMN complete_until timestamp(3) with time zone;
CREATE INDEX log_positions_node_id_kind_updated_at_idx ON log_positions(node_id, kind, updated_at);

-- Months that begin before are not in the ledger as a whole. The day is for processes of the release before, which run
-- on for a while. Without traffic nothing is missing.
CREATE TABLE usage_ledger_starts (
    at timestamp(3) with time zone PRIMARY KEY
);
INSERT INTO usage_ledger_starts (at)
  SELECT now() + interval '1 day' WHERE EXISTS (SELECT FROM traffic) OR EXISTS (SELECT FROM l4_traffic);

CREATE TABLE traffic_usages (
    site_id uuid NOT NULL,
    hour timestamp(3) with time zone NOT NULL,
    owner_id uuid NOT NULL,
    product_id uuid NOT NULL,
    node_id uuid NOT NULL,
    kind text NOT NULL,
    client_id uuid NOT NULL,
    zone_id uuid NOT NULL,
    bytes bigint NOT NULL,
    PRIMARY KEY (site_id, hour, owner_id, product_id, node_id, kind)
);
CREATE INDEX traffic_usages_owner_id_hour_idx ON traffic_usages(owner_id, hour);
CREATE INDEX traffic_usages_client_id_hour_idx ON traffic_usages(client_id, hour);

-- Bytes are only added. TRUNCATE is left to database administrators.
CREATE FUNCTION keep_traffic_usage() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    RAISE EXCEPTION 'traffic_usages: rows are never deleted';
  END IF;
  RAISE EXCEPTION 'traffic_usages: bytes are only added';
END $$;
CREATE TRIGGER keep_row BEFORE DELETE ON traffic_usages FOR EACH ROW EXECUTE FUNCTION keep_traffic_usage();
CREATE TRIGGER keep_bytes BEFORE UPDATE ON traffic_usages FOR EACH ROW
  WHEN (NEW.bytes < OLD.bytes OR (OLD.site_id, OLD.hour, OLD.owner_id, OLD.product_id, OLD.node_id, OLD.kind, OLD.client_id, OLD.zone_id)
    IS DISTINCT FROM (NEW.site_id, NEW.hour, NEW.owner_id, NEW.product_id, NEW.node_id, NEW.kind, NEW.client_id, NEW.zone_id))
  EXECUTE FUNCTION keep_traffic_usage();
