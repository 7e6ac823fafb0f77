ALTER TABLE list_sources ADD COLUMN kind text DEFAULT 'url' NOT NULL;

-- Copies and restored versions of a source contain no key.
CREATE TABLE list_source_keys (
    source_id uuid PRIMARY KEY REFERENCES list_sources(id) ON UPDATE CASCADE ON DELETE CASCADE,
    url text NOT NULL,
    key_sealed text NOT NULL
);

ALTER TABLE list_source_chunks ADD COLUMN expires jsonb DEFAULT '[]' NOT NULL;
DROP TRIGGER publish_list ON list_source_chunks;
CREATE TRIGGER publish_list AFTER INSERT OR DELETE OR UPDATE OF value, expires ON list_source_chunks
  FOR EACH ROW EXECUTE FUNCTION publish_list_source_chunk();

SELECT watch('list_source_keys');
