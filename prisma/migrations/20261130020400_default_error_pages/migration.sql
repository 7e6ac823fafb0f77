-- Error pages of an operator, for all of its sites.
CREATE TABLE default_error_pages (
    id uuid PRIMARY KEY,
    client_id uuid NOT NULL REFERENCES clients(id) ON UPDATE CASCADE ON DELETE CASCADE,
    code integer NOT NULL,
    type text NOT NULL,
    value text NOT NULL,
    enabled boolean NOT NULL,
    edge_only boolean NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);
CREATE UNIQUE INDEX default_error_pages_client_id_code_key ON default_error_pages (client_id, code);

-- A trigger, because an account that sees some zones of its operator changes the pages of all.
CREATE FUNCTION publish_default_error_page() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  INSERT INTO outbox (zone_id, key)
    SELECT z.id, 'errorPages' FROM zones z WHERE z.client_id = coalesce(NEW.client_id, OLD.client_id);
  RETURN NULL;
END $$;
CREATE TRIGGER publish_default_error_page
  AFTER INSERT OR DELETE OR UPDATE OF code, type, value, enabled, edge_only ON default_error_pages
  FOR EACH ROW EXECUTE FUNCTION publish_default_error_page();

CREATE FUNCTION publish_default_error_pages_of_zone() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  INSERT INTO outbox (zone_id, key) SELECT NEW.id, 'errorPages'
    WHERE EXISTS (SELECT FROM default_error_pages p WHERE p.client_id = NEW.client_id);
  RETURN NULL;
END $$;
CREATE TRIGGER publish_default_error_pages AFTER INSERT ON zones
  FOR EACH ROW EXECUTE FUNCTION publish_default_error_pages_of_zone();

SELECT watch('default_error_pages');
