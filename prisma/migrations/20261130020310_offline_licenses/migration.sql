CREATE TABLE offline_licenses (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    site_limit integer NOT NULL,
    node_limit integer NOT NULL,
    zone_limit integer NOT NULL,
    domain_limit integer NOT NULL,
    auto_certificate_limit integer NOT NULL,
    layer4 boolean NOT NULL,
    monitor_seconds integer NOT NULL,
    starts_at timestamp(3) with time zone NOT NULL,
    ends_at timestamp(3) with time zone,
    machine_code text,
    issued_at timestamp(3) with time zone,
    created_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
    updated_at timestamp(3) with time zone NOT NULL
);
CREATE UNIQUE INDEX offline_licenses_name_key ON offline_licenses (name);

-- The counter in the file that was issued last, also of a license that was removed since.
CREATE SEQUENCE license_counter;

-- One row: what was loaded into this installation.
CREATE TABLE installation_license (
    id integer PRIMARY KEY DEFAULT 1 CHECK (id = 1),
    installation_id uuid DEFAULT gen_random_uuid() NOT NULL,
    document text,
    counter bigint DEFAULT 0 NOT NULL,
    seen_at timestamp(3) with time zone,
    noted_at timestamp(3) with time zone,
    moved_at timestamp(3) with time zone,
    loaded_at timestamp(3) with time zone
);
INSERT INTO installation_license (id) VALUES (1);

-- Another PostgreSQL cluster has another code. Replicas, and a dump restored into the same cluster, keep it.
CREATE FUNCTION machine_code() RETURNS text
    LANGUAGE sql STABLE
    AS $$
  SELECT left(encode(sha256(convert_to(concat_ws(' ', i.installation_id, c.system_identifier), 'UTF8')), 'hex'), 32)
    FROM installation_license i, pg_control_system() c
$$;

SELECT watch('offline_licenses');
SELECT watch('installation_license');
