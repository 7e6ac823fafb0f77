-- Requests of a site at the same time at each node, and the rate of each response. 0: unlimited. NULL of a site: the
-- product's.
ALTER TABLE products ADD COLUMN max_connections INTEGER NOT NULL DEFAULT 0,
    ADD COLUMN response_mbps INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sites ADD COLUMN max_connections INTEGER,
    ADD COLUMN response_mbps INTEGER;

CREATE FUNCTION publish_sites_of_product() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  INSERT INTO outbox (zone_id, key) SELECT zone_id, 'site/' || id FROM sites WHERE product_id = NEW.id;
  RETURN NULL;
END $$;

CREATE TRIGGER products_publish_sites AFTER UPDATE OF max_connections, response_mbps ON products FOR EACH ROW
    WHEN (old.max_connections <> new.max_connections OR old.response_mbps <> new.response_mbps)
    EXECUTE FUNCTION publish_sites_of_product();

CREATE FUNCTION publish_site() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  INSERT INTO outbox (zone_id, key) VALUES (NEW.zone_id, 'site/' || NEW.id);
  RETURN NULL;
END $$;

CREATE TRIGGER sites_publish_limits AFTER UPDATE OF product_id, max_connections, response_mbps ON sites FOR EACH ROW
    WHEN (old.product_id <> new.product_id OR old.max_connections IS DISTINCT FROM new.max_connections
      OR old.response_mbps IS DISTINCT FROM new.response_mbps)
    EXECUTE FUNCTION publish_site();
