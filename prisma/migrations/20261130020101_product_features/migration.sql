-- What customers of a product may do, how its sites and domains begin, and the oldest TLS version of its domains.
ALTER TABLE products ADD COLUMN domain_lock BOOLEAN NOT NULL DEFAULT false,
    ADD COLUMN auto_ssl BOOLEAN NOT NULL DEFAULT true,
    ADD COLUMN new_site_status site_status NOT NULL DEFAULT 'normal',
    ADD COLUMN new_domains_enabled BOOLEAN NOT NULL DEFAULT true,
    ADD COLUMN min_tls TEXT NOT NULL DEFAULT 'TLSv1.2';

-- A host's document has the newer minimum of its domain and its product.
CREATE FUNCTION publish_hosts_of_product() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  INSERT INTO outbox (zone_id, key)
    SELECT s.zone_id, 'host/' || d.enabled_name FROM sites s JOIN domains d ON d.site_id = s.id
    WHERE s.product_id = NEW.id AND d.enabled_name IS NOT NULL;
  RETURN NULL;
END $$;

CREATE TRIGGER products_publish_hosts AFTER UPDATE OF min_tls ON products FOR EACH ROW
    WHEN (old.min_tls <> new.min_tls) EXECUTE FUNCTION publish_hosts_of_product();

CREATE FUNCTION publish_hosts_of_site() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  IF (SELECT count(DISTINCT min_tls) FROM products WHERE id IN (OLD.product_id, NEW.product_id)) > 1 THEN
    INSERT INTO outbox (zone_id, key)
      SELECT NEW.zone_id, 'host/' || enabled_name FROM domains WHERE site_id = NEW.id AND enabled_name IS NOT NULL;
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER sites_publish_hosts AFTER UPDATE OF product_id ON sites FOR EACH ROW
    WHEN (old.product_id <> new.product_id) EXECUTE FUNCTION publish_hosts_of_site();
