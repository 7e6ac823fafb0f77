-- Requests that a rule refused, whatever their status.
ALTER TABLE traffic ADD COLUMN blocked BIGINT NOT NULL DEFAULT 0;
UPDATE traffic SET blocked = s9 WHERE s9 > 0;

-- Top values of a site are no longer kept by node.
CREATE TEMPORARY TABLE merged_values AS
  SELECT at, site_id, type, domain_id, value, sum(requests)::bigint AS requests, sum(bytes)::bigint AS bytes,
    sum(error)::bigint AS error
  FROM top_values GROUP BY 1, 2, 3, 4, 5;
CREATE TEMPORARY TABLE merged_groups AS
  SELECT g.at, g.site_id, g.type, sum(g.removed)::bigint AS removed,
    (SELECT count(*) FROM merged_values v WHERE v.at = g.at AND v.site_id = g.site_id AND v.type = g.type)::int AS size
  FROM top_groups g GROUP BY 1, 2, 3;
TRUNCATE top_values, top_groups;
ALTER TABLE top_values DROP COLUMN node_id;
ALTER TABLE top_values ADD CONSTRAINT top_values_pkey PRIMARY KEY (site_id, type, at, domain_id, value);
ALTER TABLE top_groups DROP COLUMN node_id;
ALTER TABLE top_groups ADD CONSTRAINT top_groups_pkey PRIMARY KEY (site_id, type, at);
INSERT INTO top_values (at, site_id, type, domain_id, value, requests, bytes, error)
  SELECT at, site_id, type, domain_id, value, requests, bytes, error FROM merged_values;
INSERT INTO top_groups (at, site_id, type, size, removed) SELECT at, site_id, type, size, removed FROM merged_groups;
DROP TABLE merged_values, merged_groups;

CREATE TABLE pending_tops (
    id BIGSERIAL NOT NULL,
    groups JSON NOT NULL,

    CONSTRAINT pending_tops_pkey PRIMARY KEY (id)
);
-- Rows live for seconds, so compression would cost more than it saves.
ALTER TABLE pending_tops ALTER COLUMN groups SET STORAGE EXTERNAL;

CREATE TABLE address_sketches (
    step INTEGER NOT NULL,
    at TIMESTAMPTZ(3) NOT NULL,
    site_id UUID NOT NULL,
    domain_id UUID NOT NULL,
    sketch BYTEA NOT NULL,

    CONSTRAINT address_sketches_pkey PRIMARY KEY (site_id, step, at, domain_id)
) PARTITION BY RANGE (step, at);
