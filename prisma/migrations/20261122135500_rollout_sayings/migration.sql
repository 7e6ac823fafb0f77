-- AlterTable
ALTER TABLE "rollout_lines" ADD COLUMN     "saying" JSONB;

-- AlterTable
ALTER TABLE "rollout_nodes" ADD COLUMN     "saying" JSONB;

-- AlterTable
ALTER TABLE "rollouts" ADD COLUMN     "saying" JSONB;

-- AlterTable
ALTER TABLE "zone_versions" ADD COLUMN     "saying" JSONB;

-- What was said so far, as data: the sentences that the engine wrote are known, everything else is somebody's own words.
CREATE FUNCTION rollout_saying(words text) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  m text[];
  who text;
  said text := words;
  figure CONSTANT text := '(-?[0-9.e+-]+|not known)';
BEGIN
  IF words = 'a newer change of the zone' THEN
    RETURN jsonb_build_object('code', 'newerChange', 'node', NULL, 'values', '{}'::jsonb);
  END IF;
  m := regexp_match(words, '^it had no (\w+) before$');
  IF m IS NOT NULL THEN
    RETURN jsonb_build_object('code', 'hadNone', 'node', NULL, 'values', jsonb_build_object('product', m[1]));
  END IF;
  m := regexp_match(words, '^([0-9]+) of ([0-9]+) nodes$');
  IF m IS NOT NULL THEN
    RETURN jsonb_build_object('code', 'share', 'node', NULL, 'values', jsonb_build_object('nodes', m[1]::int, 'of', m[2]::int));
  END IF;
  -- Sentences about a node begin with its name.
  m := regexp_match(words, '^(?:(.*): )?(no word that it is done(?: within [0-9.]+ s)?|no word that it has gone back|it is not connected any more|not well|(?:agent|waf|risk|geo) \S+ is not in the store any more|\S+( %)? of [0-9]+ answers were 5xx, .*|one in a hundred answers took longer than .*)$');
  IF m IS NULL THEN
    RETURN NULL;
  END IF;
  who := nullif(m[1], 'together, those that have it');
  said := m[2];
  IF said LIKE 'no word that it is done%' THEN
    m := regexp_match(said, 'within ([0-9.]+) s$');
    RETURN jsonb_build_object('code', 'late', 'node', who,
      'values', CASE WHEN m IS NULL THEN '{}'::jsonb ELSE jsonb_build_object('seconds', m[1]::float8) END);
  ELSIF said = 'no word that it has gone back' THEN
    RETURN jsonb_build_object('code', 'lateBack', 'node', who, 'values', '{}'::jsonb);
  ELSIF said = 'it is not connected any more' THEN
    RETURN jsonb_build_object('code', 'away', 'node', who, 'values', '{}'::jsonb);
  ELSIF said = 'not well' THEN
    RETURN jsonb_build_object('code', 'unwell', 'node', who, 'values', '{}'::jsonb);
  END IF;
  m := regexp_match(said, '^(agent|waf|risk|geo) (\S+) is not in the store any more$');
  IF m IS NOT NULL THEN
    RETURN jsonb_build_object('code', 'notInStore', 'node', who, 'values', jsonb_build_object('product', m[1], 'version', m[2]));
  END IF;
  m := regexp_match(said, '^' || figure || '(?: %)? of ([0-9]+) answers were 5xx, at most ' || figure || '(?: %)? is taken \(before: '
    || figure || '(?: %)?; nodes without it: ' || figure || '(?: %)?\)$');
  IF m IS NOT NULL THEN
    RETURN jsonb_build_object('code', 'serverErrors', 'node', who, 'values', jsonb_build_object(
      'value', nullif(m[1], 'not known')::float8 / 100, 'requests', m[2]::int, 'limit', nullif(m[3], 'not known')::float8 / 100,
      'before', nullif(m[4], 'not known')::float8 / 100, 'others', nullif(m[5], 'not known')::float8 / 100));
  END IF;
  m := regexp_match(said, '^one in a hundred answers took longer than ' || figure || '(?: ms)?, at most ' || figure
    || '(?: ms)? is taken \(before: ' || figure || '(?: ms)?; nodes without it: ' || figure || '(?: ms)?\)$');
  IF m IS NOT NULL THEN
    RETURN jsonb_build_object('code', 'latency', 'node', who, 'values', jsonb_build_object(
      'value', nullif(m[1], 'not known')::float8, 'limit', nullif(m[2], 'not known')::float8,
      'before', nullif(m[3], 'not known')::float8, 'others', nullif(m[4], 'not known')::float8));
  END IF;
  RETURN NULL;
END $$;

UPDATE rollouts SET saying = rollout_saying(message) WHERE message IS NOT NULL AND rollout_saying(message) IS NOT NULL;
UPDATE rollout_nodes SET saying = rollout_saying(message) WHERE message IS NOT NULL AND rollout_saying(message) IS NOT NULL;
-- What somebody wrote has a name beside it.
UPDATE rollout_lines SET saying = rollout_saying(message)
WHERE message IS NOT NULL AND "by" IS NULL AND event NOT IN ('begun', 'completed') AND rollout_saying(message) IS NOT NULL;
UPDATE zone_versions SET saying = rollout_saying(note) WHERE note <> '' AND rollout_saying(note) IS NOT NULL;

DROP FUNCTION rollout_saying(text);
