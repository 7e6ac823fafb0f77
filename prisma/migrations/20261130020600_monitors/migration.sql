CREATE TABLE monitor_nodes (
    id uuid PRIMARY KEY,
    client_id uuid NOT NULL REFERENCES clients(id) ON UPDATE CASCADE ON DELETE CASCADE,
    name text NOT NULL,
    ip text NOT NULL,
    memo text DEFAULT ''::text NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    join_hash text,
    join_ends_at timestamp(3) with time zone,
    public_key text,
    joined_at timestamp(3) with time zone,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);
CREATE UNIQUE INDEX monitor_nodes_client_id_name_key ON monitor_nodes (client_id, name);
CREATE UNIQUE INDEX monitor_nodes_join_hash_key ON monitor_nodes (join_hash);
CREATE UNIQUE INDEX monitor_nodes_public_key_key ON monitor_nodes (public_key);

CREATE TABLE monitor_states (
    monitor_id uuid PRIMARY KEY REFERENCES monitor_nodes(id) ON UPDATE CASCADE ON DELETE CASCADE,
    version text NOT NULL,
    last_seen_at timestamp(3) with time zone NOT NULL
);

CREATE TABLE monitor_groups (
    id uuid PRIMARY KEY,
    client_id uuid NOT NULL REFERENCES clients(id) ON UPDATE CASCADE ON DELETE CASCADE,
    name text NOT NULL,
    memo text DEFAULT ''::text NOT NULL,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);
CREATE UNIQUE INDEX monitor_groups_client_id_name_key ON monitor_groups (client_id, name);

CREATE TABLE monitor_group_members (
    group_id uuid NOT NULL REFERENCES monitor_groups(id) ON UPDATE CASCADE ON DELETE CASCADE,
    monitor_id uuid NOT NULL REFERENCES monitor_nodes(id) ON UPDATE CASCADE ON DELETE CASCADE,
    PRIMARY KEY (group_id, monitor_id)
);
CREATE INDEX monitor_group_members_monitor_id_idx ON monitor_group_members (monitor_id);

CREATE TABLE monitor_group_zones (
    zone_id uuid PRIMARY KEY REFERENCES zones(id) ON UPDATE CASCADE ON DELETE CASCADE,
    group_id uuid NOT NULL REFERENCES monitor_groups(id) ON UPDATE CASCADE ON DELETE CASCADE
);
CREATE INDEX monitor_group_zones_group_id_idx ON monitor_group_zones (group_id);

CREATE TABLE monitor_results (
    monitor_id uuid NOT NULL REFERENCES monitor_nodes(id) ON UPDATE CASCADE ON DELETE CASCADE,
    node_id uuid NOT NULL REFERENCES nodes(id) ON UPDATE CASCADE ON DELETE CASCADE,
    version text NOT NULL,
    is_failing boolean,
    failures integer NOT NULL,
    successes integer NOT NULL,
    took_ms integer NOT NULL,
    error text,
    reported_at timestamp(3) with time zone NOT NULL,
    PRIMARY KEY (node_id, monitor_id)
);
CREATE INDEX monitor_results_monitor_id_idx ON monitor_results (monitor_id);

SELECT watch('monitor_nodes');
SELECT watch('monitor_groups');
SELECT watch('monitor_group_members');
SELECT watch('monitor_group_zones');

CREATE TRIGGER monitor_results_steer AFTER UPDATE ON monitor_results
  FOR EACH ROW WHEN (OLD.is_failing IS DISTINCT FROM NEW.is_failing) EXECUTE FUNCTION notify_steering();

-- Also for those that are removed with their operator: a key that is not revoked stays connected.
CREATE FUNCTION revoke_monitor_key() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  INSERT INTO revoked_keys (public_key) VALUES (OLD.public_key) ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER monitor_nodes_revoke_key AFTER DELETE ON monitor_nodes
  FOR EACH ROW WHEN (OLD.public_key IS NOT NULL) EXECUTE FUNCTION revoke_monitor_key();
