-- Settings of an operator. No row: the defaults.
CREATE TABLE system_settings (
    client_id uuid PRIMARY KEY REFERENCES clients(id) ON UPDATE CASCADE ON DELETE CASCADE,
    outgoing_url text,
    account_verify boolean DEFAULT false NOT NULL,
    restrict_group_cidrs text[] DEFAULT ARRAY[]::text[]
        CONSTRAINT restrict_group_cidrs_have_lengths
        CHECK (array_to_string(restrict_group_cidrs, ',', '') ~ '^([0-9a-f:.]+/[0-9]+(,|$))*$'),
    updated_at timestamp(3) with time zone NOT NULL
);

-- Documents of zones contain the networks in which no origins are allowed.
CREATE FUNCTION publish_restricted_networks() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  INSERT INTO outbox (zone_id, key) SELECT z.id, 'zone' FROM zones z WHERE z.client_id = NEW.client_id;
  RETURN NULL;
END $$;
CREATE TRIGGER publish_restricted_networks AFTER UPDATE OF restrict_group_cidrs ON system_settings
  FOR EACH ROW WHEN (NEW.restrict_group_cidrs IS DISTINCT FROM OLD.restrict_group_cidrs)
  EXECUTE FUNCTION publish_restricted_networks();
CREATE TRIGGER publish_new_restricted_networks AFTER INSERT ON system_settings
  FOR EACH ROW WHEN (cardinality(NEW.restrict_group_cidrs) > 0)
  EXECUTE FUNCTION publish_restricted_networks();

SELECT watch('system_settings');
