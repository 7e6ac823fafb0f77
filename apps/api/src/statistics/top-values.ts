// Requests by value (address, URL, country …) in steps of an hour. A batch of lines only appends its own counts to
// `pending_tops`. A job merges many batches at once, since most of their values are the same.
import { topTypes } from '@edgeloom/contract/statistics/statistics.ts';
import pg, { type Pool, type PoolClient } from 'pg';
import { Counter } from 'prom-client';
import { locks } from '../core/locks.ts';
import { registry } from '../core/metrics.ts';
import { inTransaction, withClient } from '../node-link/transactions.ts';
import { addAddresses } from './address-sketches.ts';
import { NO_DOMAIN, storable, type Line } from './log-lines.ts';
import { matchedRulesOf, monitoredRulesOf, originAttemptsOf } from './rules-and-attempts.ts';
import type { Partitions } from './partitions.ts';
import { MIN_TOP_VALUES_DAYS } from '../core/env.ts';
import { isBlockedByRule, MONITOR } from './traffic.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Counts of this many values of a site, type and hour are exact. When there are twice as many, half are removed. */
export const VALUES_KEPT = 2000;
/** Each is smaller than its lines, MAX_BATCH_BYTES. */
const BATCHES_MERGED_AT_ONCE = 100;
/** An index entry of PostgreSQL must fit a third of a page. */
export const MAX_VALUE_CHARACTERS = 512;
/** 2^62: with a merged batch it fits the column. */
const MAX_SUM = 4611686018427387904n;
/** Types that no call returns. By them a search knows which hours it must read. */
export const searchTypes = { userAgent: 101, referer: 102 } as const;
/** A group of this type has no values. It marks an hour in which the values of some requests may not be counted. */
export const INCOMPLETE_HOUR = 100;
/** Rule matches and origin attempts. No call returns them as top values (read-rules-and-attempts.ts). */
export const ruleAndOriginTypes = { rule: 103, origin: 104, originFailed: 105, wouldBlock: 106 } as const;
const alwaysCounted: readonly number[] = [ruleAndOriginTypes.rule, ruleAndOriginTypes.wouldBlock];

const setAside = new Counter({
  name: 'edgeloom_api_log_batches_set_aside_total',
  help: 'Batches whose values could not be added to the top values',
  registers: [registry],
});

/** Values of a domain in one hour. `at` is in milliseconds since 1970. */
interface Group {
  at: number;
  site: string;
  domain: string;
  types: Map<number, Map<string, { requests: number; bytes: number }>>;
}
/** A group in `pending_tops`. */
interface PendingGroup extends Pick<Group, 'at' | 'site' | 'domain'> {
  types: [type: number, values: [value: string, requests: number, bytes: number][]][];
}

class Groups {
  readonly all: Group[] = [];
  readonly #byKey = new Map<string, Group>();

  get(at: number, site: string, domain: string): Group {
    const key = `${at}${site}${domain}`;
    let group = this.#byKey.get(key);
    if (group === undefined) {
      group = { at, site, domain, types: new Map() };
      this.#byKey.set(key, group);
      this.all.push(group);
    }
    return group;
  }
}

function countsOf({ types }: Group, type: number) {
  let values = types.get(type);
  if (values === undefined) types.set(type, (values = new Map()));
  return values;
}

function count(group: Group, type: number, value: string, requests: number, bytes: number): void {
  const values = countsOf(group, type);
  const counts = values.get(value);
  if (counts === undefined) values.set(value, { requests, bytes });
  else {
    counts.requests += requests;
    counts.bytes += bytes;
  }
}

/** Values and addresses of earlier hours are not kept. In milliseconds since 1970. */
interface KeptSince {
  values: number;
  /** Lines of earlier hours may have been stored without their values, depending on TOP_VALUES_DAYS at that time. */
  complete: number;
  /** Addresses by the hour. */
  3600: number;
  /** Addresses by the day. */
  86400: number;
}

const keptSince = (partitions: Partitions, now: number): KeptSince => ({
  values: partitions.since('top_values', now),
  complete: now - MIN_TOP_VALUES_DAYS * DAY_MS,
  3600: partitions.since('address_sketches', now, 3600),
  86400: partitions.since('address_sketches', now, 86_400),
});

/** Appends the counts of a batch, for mergeTopValues. */
export async function appendTopValues(
  client: PoolClient,
  partitions: Partitions,
  siteOf: (line: Line) => string,
  lines: readonly Line[],
  now: number,
): Promise<void> {
  const since = keptSince(partitions, now);
  const first = Math.min(since[3600], since[86_400], since.values);
  const groups = new Groups();
  for (const line of lines) {
    if (line.at < first) continue;
    const [at, site] = [line.at - (line.at % HOUR_MS), siteOf(line)];
    const group = groups.get(at, site, line.domain);
    const hasValues = at >= since.values;
    for (const [type, value] of hasValues ? valuesOf(line) : [addressOf(line)])
      if (value !== '') count(group, type, storable(value, MAX_VALUE_CHARACTERS), 1, line.bytes);
    if (!hasValues) continue;
    // Rules belong to the site. By domain, those of a site with many domains would be too many values.
    const ofSite = groups.get(at, site, NO_DOMAIN);
    // Also without a match: a batch without one of these types is of an earlier release.
    for (const type of alwaysCounted) countsOf(ofSite, type);
    for (const id of matchedRulesOf(line)) count(ofSite, ruleAndOriginTypes.rule, id, 1, line.bytes);
    for (const id of monitoredRulesOf(line)) count(ofSite, ruleAndOriginTypes.wouldBlock, id, 1, line.bytes);
  }
  const stored = partitions.since('access_log', now);
  const uncounted = lines.filter(({ at }) => at >= stored && at - (at % HOUR_MS) < since.values);
  if (uncounted.length > 0) await markUncounted(client, siteOf, uncounted);
  if (groups.all.length === 0) return;
  const pending = groups.all.map(({ types, ...group }): PendingGroup => ({
    ...group,
    types: [...types].map(([type, values]) => [
      type,
      [...values].map(([value, { requests, bytes }]) => [value, requests, bytes]),
    ]),
  }));
  await client.query('INSERT INTO pending_tops (groups, hours) VALUES ($1, $2)', [
    JSON.stringify(pending),
    [...new Set(pending.map(({ at }) => at))].map((at) => new Date(at)),
  ]);
}

const addressOf = ({ address }: Line) => [topTypes.address, address] as const;

function valuesOf(line: Line): (readonly [number, string])[] {
  const { country, province, isp } = line.location;
  const cause = isBlockedByRule(line) ? line.cause : '';
  return [
    [topTypes.country, country],
    [topTypes.province, province],
    [topTypes.isp, isp],
    [topTypes.status, String(line.status)],
    addressOf(line),
    [topTypes.url, line.host + line.uri],
    [topTypes.referer, line.referer.split(/[?#]/, 1)[0] ?? ''],
    [topTypes.method, line.method],
    [topTypes.httpVersion, line.httpVersion],
    [topTypes.blacklist, cause === 'waf' ? '' : cause],
    [topTypes.wafRule, cause === 'waf' ? line.rule : ''],
    [
      topTypes.wafMonitored,
      line.cause === 'waf' && line.rule.startsWith(MONITOR) ? line.rule.slice(MONITOR.length) : '',
    ],
    [searchTypes.userAgent, line.userAgent],
    [searchTypes.referer, line.referer],
    ...originAttemptsOf(line).flatMap(({ origin, hasFailed }) =>
      [ruleAndOriginTypes.origin, ...(hasFailed ? [ruleAndOriginTypes.originFailed] : [])].map(
        (type) => [type, origin] as const,
      ),
    ),
  ];
}

/** Merges all batches that are pending. Each counts once, because it is deleted in the transaction that adds it. */
export async function mergeTopValues(pool: Pool, partitions: Partitions, now: number): Promise<void> {
  await withClient(pool, async (client) => {
    while ((await mergeBatches(client, partitions, now)) === BATCHES_MERGED_AT_ONCE);
  });
}

interface PendingBatch {
  id: string;
  groups: PendingGroup[];
  /** It was counted by an earlier release. */
  isOld: boolean;
}

/** Returns how many batches were merged or set aside. One process merges at a time. */
const mergeBatches = (client: PoolClient, partitions: Partitions, now: number): Promise<number> =>
  inTransaction(client, async () => {
    await client.query('SELECT pg_advisory_xact_lock($1)', [locks.topValues]);
    const { rows: batches } = await client.query<PendingBatch>(
      `DELETE FROM pending_tops WHERE id IN (SELECT id FROM pending_tops WHERE failed_at IS NULL ORDER BY id LIMIT $1)
       RETURNING id, groups, hours = '{}' AS "isOld"`,
      [BATCHES_MERGED_AT_ONCE],
    );
    const since = keptSince(partitions, now);
    if (await isAdded(client, batches, since)) return batches.length;
    for (const batch of batches)
      if (!(await isAdded(client, [batch], since))) {
        await client.query('INSERT INTO pending_tops (id, groups, failed_at) VALUES ($1, $2, now())', [
          batch.id,
          JSON.stringify(batch.groups),
        ]);
        setAside.inc();
      }
    return batches.length;
  });

/** False if PostgreSQL refuses a value (class 22). Then nothing was added. */
async function isAdded(client: PoolClient, batches: readonly PendingBatch[], since: KeptSince): Promise<boolean> {
  await client.query('SAVEPOINT batches');
  try {
    await addBatches(client, batches, since);
    await client.query('RELEASE SAVEPOINT batches');
    return true;
  } catch (error) {
    if (!(error instanceof pg.DatabaseError && error.code?.startsWith('22'))) throw error;
    await client.query('ROLLBACK TO SAVEPOINT batches');
    return false;
  }
}

async function addBatches(client: PoolClient, batches: readonly PendingBatch[], since: KeptSince): Promise<void> {
  const merged = new Groups();
  for (const { groups } of batches)
    for (const { at, site, domain, types } of groups) {
      const group = merged.get(at, site, domain);
      for (const [type, values] of types)
        for (const [value, requests, bytes] of values) count(group, type, value, requests, bytes);
    }
  // Partitions of older hours may have been dropped.
  const valued = merged.all.filter(({ at }) => at >= since.values);
  if (valued.length > 0) {
    await markCounted(client, valued);
    await addValues(client, valued);
  }
  const places = merged.all.flatMap(({ types, ...group }) => {
    const addresses = types.get(topTypes.address)?.keys();
    return addresses === undefined ? [] : [{ ...group, addresses: [...addresses] }];
  });
  if (places.length > 0) await addAddresses(client, places, since);
  for (const batch of batches) {
    const types = typesMissing(batch);
    const groups = batch.groups.filter(({ at }) => at >= since.values);
    if (types.length > 0) await markIncomplete(client, groups, types);
    const late = groups.filter(({ at }) => at < since.complete);
    if (late.length > 0) await markIncomplete(client, late, [INCOMPLETE_HOUR]);
  }
}

/** Types that the process of an earlier release did not count. */
function typesMissing({ groups, isOld }: PendingBatch): number[] {
  const counts = (sought: number) => groups.some(({ types }) => types.some(([type]) => type === sought));
  const { rule, origin, originFailed, wouldBlock } = ruleAndOriginTypes;
  return [
    ...(isOld ? Object.values(searchTypes) : []),
    ...(counts(rule) ? [] : [rule, origin, originFailed]),
    ...(counts(wouldBlock) ? [] : [wouldBlock]),
  ];
}

/** Deletes what was set aside when the values of its time have expired. */
export const sweepFailedBatches = (pool: Pool, partitions: Partitions, now: number) =>
  pool.query('DELETE FROM pending_tops WHERE failed_at < $1', [new Date(partitions.since('top_values', now))]);

/**
 * Adds rows for rule matches and origin attempts, so that an hour without any is known to have none. Their values are
 * not complete if the status codes of the hour were counted before, by an earlier release.
 */
function markCounted(client: PoolClient, groups: readonly Group[]) {
  const sites = groups.filter(({ domain }) => domain === NO_DOMAIN);
  return client.query(
    `INSERT INTO top_groups (at, site_id, type, size, removed)
     SELECT g.at, g.site_id, added.type, 0, (EXISTS (
       SELECT FROM top_groups o WHERE o.site_id = g.site_id AND o.type = $4 AND o.at = g.at
     ))::int
     FROM unnest($1::timestamptz[], $2::uuid[]) AS g (at, site_id), unnest($3::int2[]) AS added (type)
     ON CONFLICT DO NOTHING`,
    [
      sites.map(({ at }) => new Date(at)),
      sites.map(({ site }) => site),
      Object.values(ruleAndOriginTypes),
      topTypes.status,
    ],
  );
}

/** Like a removed value, so that searches read the hour, and rules and origins have no figures. */
const markIncomplete = (client: PoolClient, groups: readonly PendingGroup[], types: readonly number[]) =>
  client.query(
    `INSERT INTO top_groups AS t (at, site_id, type, size, removed)
     SELECT DISTINCT g.at, g.site_id, added.type, 0, 1
     FROM unnest($1::timestamptz[], $2::uuid[]) AS g (at, site_id), unnest($3::int2[]) AS added (type)
     ON CONFLICT (site_id, type, at) DO UPDATE SET removed = greatest(t.removed, 1)`,
    [groups.map(({ at }) => new Date(at)), groups.map(({ site }) => site), types],
  );

/** Hours of a site without groups are read whole in any case, and may have no partition. */
const markUncounted = (client: PoolClient, siteOf: (line: Line) => string, lines: readonly Line[]) =>
  client.query(
    `INSERT INTO top_groups (at, site_id, type, size, removed)
     SELECT DISTINCT g.at, g.site_id, $3::int2, 0, 1
     FROM unnest($1::timestamptz[], $2::uuid[]) AS l (at, site_id)
     JOIN top_groups g ON g.site_id = l.site_id AND g.at = l.at
     ON CONFLICT DO NOTHING`,
    [lines.map(({ at }) => new Date(at - (at % HOUR_MS))), lines.map(siteOf), INCOMPLETE_HOUR],
  );

/** After Space-Saving (Metwally et al., 2005), with removal in bulk. */
async function addValues(client: PoolClient, groups: readonly Group[]): Promise<void> {
  const rows = groups.flatMap(({ at, site, domain, types }) =>
    [...types].flatMap(([type, values]) =>
      [...values].map(([value, { requests, bytes }]) => ({ at, site, domain, type, value, requests, bytes })),
    ),
  );
  const { rows: full } = await client.query<{ at: Date; site: string; type: number }>(addSql, [
    rows.map(({ at }) => new Date(at)),
    rows.map(({ site }) => site),
    rows.map(({ type }) => type),
    rows.map(({ domain }) => domain),
    rows.map(({ value }) => value),
    rows.map(({ requests }) => requests),
    rows.map(({ bytes }) => bytes),
    2 * VALUES_KEPT,
  ]);
  for (const { at, site, type } of full) await client.query(removeSql, [at, site, type, VALUES_KEPT]);
}

/**
 * Returns the groups that have become too large. A value that had no row has the requests that were given. It may have
 * been removed before, so its error is the largest count that was.
 */
const addSql = `WITH given AS MATERIALIZED (
    SELECT * FROM unnest($1::timestamptz[], $2::uuid[], $3::int2[], $4::uuid[], $5::text[], $6::int8[], $7::int8[])
      AS r (at, site_id, type, domain_id, value, requests, bytes)
  ), added AS (
    INSERT INTO top_values AS t (at, site_id, type, domain_id, value, requests, bytes, error)
    SELECT g.at, g.site_id, g.type, g.domain_id, g.value, g.requests, g.bytes, coalesce(o.removed, 0)
    FROM given g LEFT JOIN top_groups o ON o.site_id = g.site_id AND o.type = g.type AND o.at = g.at
    ON CONFLICT (site_id, type, at, domain_id, value) DO UPDATE SET
      requests = t.requests + excluded.requests, bytes = least(t.bytes, ${MAX_SUM}) + excluded.bytes
    RETURNING at, site_id, type, domain_id, value, requests
  ), groups AS (
    INSERT INTO top_groups AS t (at, site_id, type, size)
    SELECT at, site_id, type, count(*) FROM added a JOIN given g USING (at, site_id, type, domain_id, value)
    WHERE a.requests = g.requests GROUP BY 1, 2, 3
    ON CONFLICT (site_id, type, at) DO UPDATE SET size = t.size + excluded.size
    RETURNING at, site_id, type, size
  )
  SELECT at, site_id AS site, type FROM groups WHERE size > $8`;

/** By position in the partition of the hour: a join by value is planned badly while the hour is new. */
const removeSql = `WITH removed AS (
    DELETE FROM top_values WHERE at = $1 AND ctid = ANY (ARRAY(
      SELECT ctid FROM top_values WHERE site_id = $2 AND type = $3 AND at = $1
      ORDER BY requests + error DESC, value OFFSET $4
    ))
    RETURNING requests + error AS requests
  )
  UPDATE top_groups SET size = $4, removed = greatest(removed, (SELECT max(requests) FROM removed))
  WHERE site_id = $2 AND type = $3 AND at = $1`;
