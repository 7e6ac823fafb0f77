CREATE TABLE traffic_5m (
  at timestamp(3) with time zone NOT NULL,
  site_id uuid NOT NULL,
  zone_id uuid NOT NULL,
  node_id uuid NOT NULL,
  requests bigint NOT NULL,
  bytes bigint NOT NULL,
  request_bytes bigint NOT NULL,
  hits bigint NOT NULL,
  to_upstream bigint NOT NULL,
  s2 bigint NOT NULL,
  s3 bigint NOT NULL,
  s4 bigint NOT NULL,
  s5 bigint NOT NULL,
  s9 bigint NOT NULL,
  CONSTRAINT traffic_5m_pkey PRIMARY KEY (node_id, at, site_id)
);
CREATE INDEX traffic_5m_zone_id_site_id_at_idx ON traffic_5m (zone_id, site_id, at);
CREATE INDEX traffic_5m_at_idx ON traffic_5m (at);

CREATE TABLE traffic_1h (
  at timestamp(3) with time zone NOT NULL,
  site_id uuid NOT NULL,
  zone_id uuid NOT NULL,
  node_id uuid NOT NULL,
  requests bigint NOT NULL,
  bytes bigint NOT NULL,
  request_bytes bigint NOT NULL,
  hits bigint NOT NULL,
  to_upstream bigint NOT NULL,
  s2 bigint NOT NULL,
  s3 bigint NOT NULL,
  s4 bigint NOT NULL,
  s5 bigint NOT NULL,
  s9 bigint NOT NULL,
  CONSTRAINT traffic_1h_pkey PRIMARY KEY (node_id, at, site_id)
);
CREATE INDEX traffic_1h_zone_id_site_id_at_idx ON traffic_1h (zone_id, site_id, at);
CREATE INDEX traffic_1h_at_idx ON traffic_1h (at);

CREATE TABLE log_positions (
  node_id uuid NOT NULL,
  file text NOT NULL,
  reached bigint DEFAULT 0 NOT NULL,
  updated_at timestamp(3) with time zone DEFAULT CURRENT_TIMESTAMP NOT NULL,
  CONSTRAINT log_positions_pkey PRIMARY KEY (node_id, file)
);
