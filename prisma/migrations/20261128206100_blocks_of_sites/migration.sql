ALTER TABLE blocks ADD COLUMN scope uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000';
-- Rules of sites block for their site only, so one address may have several blocks in a zone.
DROP INDEX blocks_zone_id_network_key;
CREATE UNIQUE INDEX blocks_zone_id_network_scope_key ON blocks (zone_id, network, scope);
