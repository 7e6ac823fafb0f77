// Restores a site's configuration to a version: every row changed since is put back in one transaction, which is a new
// version itself. Covers all tables that the database tracks (migration site_versions), including those of later
// features. The caller has checked ownership.
import { moduleKey, siteKey } from '@edgeloom/contract/edge/documents.ts';
import type { ErrorName } from '@edgeloom/contract/errors.ts';
import { Prisma } from '../generated/client.ts';
import { noteWeight, overweightFields } from './document-weight.ts';
import { isPublicSuffix, UNPROVEN } from './enabled-names.ts';
import { fail, Failure, type Fault } from './fail.ts';
import type { Installation } from './installation.ts';
import { licenseIn } from './license.ts';
import { lockClasses } from './locks.ts';
import { readOriginSettings } from './origin-settings.ts';
import { originFault, type OriginSettings } from './outbound.ts';

/** The change of a row between two versions. For an existing row, the differing columns. */
export interface FoldedRow {
  entity: string;
  rowKey: string;
  label: string;
  parent: string;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
}

export interface Restored {
  /** The site's newest version afterwards. */
  version: number;
  /** The changes from now to the restored state, limited to the first ones. */
  rows: FoldedRow[];
  total: number;
  settled: { entity: string; name: string; rule: 'certificateGone' | 'portGone' }[];
  faults: Fault[];
}

interface RestoreOptions {
  siteId: string;
  version: number;
  reason: string;
  isDryRun: boolean;
  admit: (entities: string[]) => void;
  admitCertificates: () => void;
  /** A customer may not add or remove domains where the product locks them. */
  isCustomer: boolean;
}

const MAX_SHOWN_ROWS = 200;
const MAX_NAMED = 100;
const MAX_ATTEMPTS = 3;
const transactionLimits = { timeout: 50_000, maxWait: 10_000 };

/** Thrown to roll back. */
class RolledBackError extends Error {
  readonly restored: Restored;
  constructor(restored: Restored) {
    super('rolled back');
    this.restored = restored;
  }
}
/** Someone else changed the site. */
class ConcurrentChangeError extends Error {}

type Tx = Prisma.TransactionClient;

export async function restoreSite(installation: Installation, options: RestoreOptions): Promise<Restored> {
  for (let left = MAX_ATTEMPTS; ; left--) {
    try {
      return await installation.db.$transaction((tx) => restoreIn(tx, installation, options), transactionLimits);
    } catch (error) {
      if (error instanceof RolledBackError) return error.restored;
      // Another customer got a name since. The next attempt finds it.
      const isConflict =
        error instanceof ConcurrentChangeError || (error instanceof Error && error.message.includes(UNPROVEN));
      if (!isConflict) throw error;
      if (left === 1) fail('CHANGED', { errorData: [{ rule: 'changed' }] });
    }
  }
}

interface LockedSite {
  zoneId: string;
  clientId: string;
  domainLimit: number;
  portLimit: number;
  domainLock: boolean;
}

async function restoreIn(tx: Tx, installation: Installation, options: RestoreOptions): Promise<Restored> {
  const { siteId, version, reason, isDryRun } = options;
  // Locks the site against concurrent restores and limit checks.
  const [site] = await tx.$queryRaw<LockedSite[]>`
    SELECT s.zone_id AS "zoneId", s.client_id AS "clientId", coalesce(s.domain_limit, p.domain_limit) AS "domainLimit",
      coalesce(s.port_limit, p.port_limit) AS "portLimit", p.domain_lock AS "domainLock"
    FROM sites s JOIN products p ON p.id = s.product_id WHERE s.id = ${siteId}::uuid FOR NO KEY UPDATE OF s`;
  if (!site) fail('NOT_FOUND');
  const seen = await newestVersion(tx, siteId);

  await tx.$executeRaw`CREATE TEMPORARY TABLE wanted ON COMMIT DROP AS
    SELECT f.* FROM fold_changes(ARRAY(
      SELECT v.id FROM site_versions v WHERE v.site_id = ${siteId}::uuid AND v.version > ${version})) f`;
  // Without statistics the planner would use slow nested loops for ten thousand rows.
  await tx.$executeRaw`ANALYZE wanted`;
  const settled = await clearDanglingReferences(tx, siteId, site.zoneId);
  const entities = await tx.$queryRaw<{ entity: string }[]>`SELECT DISTINCT entity FROM wanted`;
  options.admit(entities.map(({ entity }) => entity));
  if (
    await exists(
      tx,
      Prisma.sql`entity = 'domains' AND (before->>'certificate_id') IS DISTINCT FROM (after->>'certificate_id')`,
    )
  )
    options.admitCertificates();
  const differing = await readChanges(tx);
  const restored = { ...differing, settled, version: differing.total > 0 ? seen + 1 : seen };

  const faults = await namesTaken(tx);
  if (options.isCustomer && site.domainLock) faults.push(...(await domainsLocked(tx)));
  faults.push(...(await namesUnproven(tx, siteId)));
  const allowed = await readOriginSettings(installation, tx, site.clientId);
  faults.push(...(await portsTaken(tx, site.zoneId)), ...(await originsDenied(tx, allowed)));
  if (faults.length > 0) throw new RolledBackError({ ...restored, faults });

  const why = JSON.stringify({ reason, restores: version });
  await tx.$executeRaw`SELECT set_config('edgeloom.version', ${why}, true)`;
  const before = await countLimited(tx, siteId);
  const weighed = await weighedKeys(tx, siteId);
  await noteWeight(tx, weighed);
  await applyRows(tx);
  const after = await countLimited(tx, siteId);

  const license = licenseIn(tx, site.clientId, isDryRun);
  if (after.domains > before.domains) {
    if (site.domainLimit > 0 && after.domains > site.domainLimit)
      faults.push({ reason: 'DOMAIN_LIMIT', target: String(site.domainLimit) });
    faults.push(...(await licenseFaults(license.assertRoom('domains'))));
  }
  if (after.ports > before.ports) {
    if (site.portLimit > 0 && after.ports > site.portLimit)
      faults.push({ reason: 'PORT_LIMIT', target: String(site.portLimit) });
    faults.push(...(await licenseFaults(license.assertLayer4())));
  }
  faults.push(...(await portsUnopened(tx, siteId, site.zoneId)));
  // The version may be older than the limits of lists.
  const overweight = await overweightFields(tx, weighed);
  faults.push(...overweight.map((target): Fault => ({ reason: 'LIMIT_REACHED', target })));
  if (faults.length > 0 || isDryRun) throw new RolledBackError({ ...restored, faults });

  await publish(tx, siteId, site.zoneId);
  // Later changes of the site wait for this transaction, and earlier ones are visible.
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(${lockClasses.siteVersions}::int, hashtext(${siteId}::uuid::text))`;
  if ((await newestVersion(tx, siteId)) !== seen) throw new ConcurrentChangeError();
  return { ...restored, faults };
}

/** Turns a license error into an entry of the list of errors. */
async function licenseFaults(check: Promise<void>): Promise<Fault[]> {
  try {
    await check;
    return [];
  } catch (error) {
    if (error instanceof Failure) {
      const rule = error.particulars.errorData?.[0]?.rule;
      return [{ reason: error.reason, target: '', ...(rule !== undefined && { rule }) }];
    }
    throw error;
  }
}

async function newestVersion(tx: Tx, siteId: string): Promise<number> {
  const [row] = await tx.$queryRaw<{ version: number }[]>`
    SELECT coalesce(max(version), 0) AS version FROM site_versions WHERE site_id = ${siteId}::uuid`;
  return row?.version ?? 0;
}

async function exists(tx: Tx, condition: Prisma.Sql): Promise<boolean> {
  const [row] = await tx.$queryRaw<
    { found: boolean }[]
  >`SELECT EXISTS (SELECT FROM wanted WHERE ${condition}) AS found`;
  return row?.found ?? false;
}

/** References to deleted rows outside the configuration are cleared and reported. */
async function clearDanglingReferences(tx: Tx, siteId: string, zoneId: string): Promise<Restored['settled']> {
  const settled: Restored['settled'] = [];
  for (const column of ['certificate_id', 'origin_certificate_id']) {
    const rows = await tx.$queryRawUnsafe<{ label: string }[]>(
      `UPDATE wanted w SET before = w.before || jsonb_build_object('${column}', NULL)
       WHERE w.entity = 'domains' AND w.before->>'${column}' IS NOT NULL
         AND NOT EXISTS (SELECT FROM certificates c WHERE c.id = (w.before->>'${column}')::uuid AND c.site_id = $1::uuid)
       RETURNING w.label`,
      siteId,
    );
    settled.push(...rows.map(({ label }) => ({ entity: 'domains', name: label, rule: 'certificateGone' as const })));
  }
  const ports = await tx.$queryRaw<{ label: string }[]>`
    DELETE FROM wanted w WHERE w.entity = 'site_ports' AND w.before IS NOT NULL AND NOT EXISTS (
      SELECT FROM zone_ports z WHERE z.id = (w.before->>'zone_port_id')::uuid AND z.zone_id = ${zoneId}::uuid)
    RETURNING w.label`;
  settled.push(...ports.map(({ label }) => ({ entity: 'site_ports', name: label, rule: 'portGone' as const })));
  // Rows that equal the current ones, apart from cleared references, are left alone.
  await tx.$executeRaw`DELETE FROM wanted WHERE before - 'cache_version' = after - 'cache_version'`;
  // The domain may have been purged since, so its cache starts empty.
  await tx.$executeRaw`UPDATE wanted SET before = before || jsonb_build_object('cache_version', (before->>'cache_version')::int + 1)
    WHERE before IS NOT NULL AND after IS NULL AND before ? 'cache_version'`;
  return settled.slice(0, MAX_NAMED);
}

async function readChanges(tx: Tx): Promise<Pick<Restored, 'rows' | 'total'>> {
  const rows = await tx.$queryRaw<(FoldedRow & { total: number })[]>`
    SELECT count(*) OVER ()::int AS total, f.entity, f.row_key AS "rowKey", f.label, f.after AS before, f.before AS after,
      coalesce((SELECT d.name FROM domains d WHERE d.id = f.parent_id), (SELECT m.name FROM modules m WHERE m.id = f.parent_id),
        (SELECT r.port || '/' || r.protocol FROM port_rules r WHERE r.id = f.parent_id),
        (SELECT p.label FROM wanted p WHERE p.row_key = f.parent_id::text LIMIT 1), '') AS parent
    FROM wanted f ORDER BY f.entity, f.label, f.row_key LIMIT ${MAX_SHOWN_ROWS}`;
  return { rows, total: rows[0]?.total ?? 0 };
}

const blamed = (reason: ErrorName, rows: readonly { label: string }[]): Fault[] =>
  rows.map(({ label }) => ({ reason, target: label }));

const domainsLocked = async (tx: Tx): Promise<Fault[]> =>
  blamed(
    'DOMAINS_LOCKED',
    await tx.$queryRaw<{ label: string }[]>`
      SELECT label FROM wanted WHERE entity = 'domains' AND (before IS NULL OR after IS NULL)
      ORDER BY label LIMIT ${MAX_NAMED}`,
  );

/** A name is enabled once in the whole installation. */
const namesTaken = async (tx: Tx): Promise<Fault[]> =>
  blamed(
    'DOMAIN_TAKEN',
    await tx.$queryRaw<{ label: string }[]>`
      SELECT w.label FROM wanted w JOIN domains d ON d.enabled_name = w.label
      WHERE w.entity = 'domains' AND (w.before->>'enabled')::boolean AND d.id <> w.row_key::uuid
        AND NOT EXISTS (SELECT FROM wanted o WHERE o.entity = 'domains' AND o.row_key = d.id::text
          AND (o.before IS NULL OR NOT coalesce((o.before->>'enabled')::boolean, true)))
      ORDER BY w.label LIMIT ${MAX_NAMED}`,
  );

/** Names that would be enabled again but now belong to or overlap another customer's. */
async function namesUnproven(tx: Tx, siteId: string): Promise<Fault[]> {
  const rows = await tx.$queryRaw<{ label: string; isUnproven: boolean; isNew: boolean }[]>`
    WITH enabled AS (SELECT label, row_key::uuid AS id FROM wanted WHERE entity = 'domains' AND (before->>'enabled')::boolean)
    SELECT e.label, e.label IN (SELECT unproven_names(${siteId}::uuid, ARRAY(SELECT label FROM enabled))) AS "isUnproven",
      NOT EXISTS (SELECT FROM name_claims c WHERE c.domain_id = e.id) AS "isNew"
    FROM enabled e ORDER BY e.label`;
  return rows
    .flatMap(({ label, isUnproven, isNew }): Fault[] => {
      if (isNew && isPublicSuffix(label)) return [{ reason: 'PUBLIC_SUFFIX', target: label }];
      return isUnproven ? [{ reason: 'NAME_UNPROVEN', target: label }] : [];
    })
    .slice(0, MAX_NAMED);
}

/** A port of the zone's nodes is used once. */
const portsTaken = async (tx: Tx, zoneId: string): Promise<Fault[]> =>
  blamed(
    'DUPLICATED',
    await tx.$queryRaw<{ label: string }[]>`
      SELECT r.port || '/' || r.protocol AS label FROM (
        SELECT w.row_key, coalesce((w.before->>'port')::int, p.port) AS port, coalesce(w.before->>'protocol', p.protocol) AS protocol
        FROM wanted w LEFT JOIN port_rules p ON p.id = w.row_key::uuid WHERE w.entity = 'port_rules' AND w.before IS NOT NULL
      ) r JOIN port_claims c ON c.zone_id = ${zoneId}::uuid AND c.port = r.port AND c.protocol = r.protocol
      WHERE c.holder <> r.row_key::uuid
        AND NOT EXISTS (SELECT FROM wanted o WHERE o.entity = 'port_rules' AND o.row_key = c.holder::text
          AND (o.before IS NULL OR o.before ? 'port' OR o.before ? 'protocol'))
      ORDER BY 1 LIMIT ${MAX_NAMED}`,
  );

/** The operator may have forbidden origins since. */
async function originsDenied(tx: Tx, settings: OriginSettings): Promise<Fault[]> {
  const rows = await tx.$queryRaw<{ address: string }[]>`
    SELECT DISTINCT before->>'address' AS address FROM wanted WHERE entity IN ('upstreams', 'port_upstreams') AND before ? 'address'`;
  const denied = rows.filter(({ address }) => originFault(address, settings) !== null);
  return denied.slice(0, MAX_NAMED).map(({ address }) => ({ reason: 'PARAMETER', target: address, rule: 'forbidden' }));
}

/** A domain may only map ports that its site opens. */
async function portsUnopened(tx: Tx, siteId: string, zoneId: string): Promise<Fault[]> {
  const rows = await tx.$queryRaw<{ label: string; port: number }[]>`
      SELECT DISTINCT d.name AS label, (m->>'from')::int AS port FROM domains d, jsonb_array_elements(d.port_map) m
      WHERE d.site_id = ${siteId}::uuid AND d.port_map <> '[]' AND NOT EXISTS (
        SELECT FROM zone_ports z WHERE z.zone_id = ${zoneId}::uuid AND z.port = (m->>'from')::int
          AND (z.port IN (80, 443) OR EXISTS (SELECT FROM site_ports o WHERE o.site_id = d.site_id AND o.zone_port_id = z.id)))
      ORDER BY 1, 2 LIMIT ${MAX_NAMED}`;
  return rows.map(({ label, port }) => ({ reason: 'ILLEGAL_PORT_MAP', target: label, values: { port } }));
}

async function countLimited(tx: Tx, siteId: string): Promise<{ domains: number; ports: number }> {
  const [row] = await tx.$queryRaw<{ domains: number; ports: number }[]>`
    SELECT (SELECT count(*)::int FROM domains WHERE site_id = ${siteId}::uuid) AS domains,
      (SELECT count(*)::int FROM port_rules WHERE site_id = ${siteId}::uuid) AS ports`;
  return row ?? { domains: 0, ports: 0 };
}

interface Tracked {
  name: string;
  keys: string[];
  columns: string[];
  /** Tracked tables that it references. */
  above: string[];
}

/** Parents before children. */
async function trackedTables(tx: Tx): Promise<Tracked[]> {
  const rows = await tx.$queryRaw<Tracked[]>`
    SELECT c.relname AS name,
      ARRAY(SELECT a.attname::text FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
        WHERE i.indrelid = c.oid AND i.indisprimary ORDER BY array_position(i.indkey::int[], a.attnum::int)) AS keys,
      ARRAY(SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum) AS columns,
      ARRAY(SELECT DISTINCT p.relname::text FROM pg_constraint f JOIN pg_class p ON p.oid = f.confrelid
        JOIN pg_trigger g ON g.tgrelid = p.oid AND g.tgname = 'track_insert'
        WHERE f.contype = 'f' AND f.conrelid = c.oid AND p.oid <> c.oid) AS above
    FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
    WHERE t.tgname = 'track_insert' AND c.relnamespace = current_schema()::regnamespace ORDER BY c.relname`;
  const sorted: Tracked[] = [];
  const add = (table: Tracked) => {
    if (sorted.includes(table)) return;
    for (const name of table.above) for (const parent of rows) if (parent.name === name) add(parent);
    sorted.push(table);
  };
  for (const table of rows) add(table);
  return sorted;
}

/** Table and column names come from the database catalogue only. */
async function applyRows(tx: Tx): Promise<void> {
  const touched = await tx.$queryRaw<{ entity: string }[]>`SELECT DISTINCT entity FROM wanted`;
  const isTouched = new Set(touched.map(({ entity }) => entity));
  const tables = (await trackedTables(tx)).filter(({ name }) => isTouched.has(name));
  for (const table of tables.toReversed()) await tx.$executeRawUnsafe(removal(table));
  // Swapped values would violate unique indexes temporarily.
  if (isTouched.has('port_rules'))
    await tx.$executeRaw`DELETE FROM port_claims c USING wanted w
      WHERE w.entity = 'port_rules' AND w.row_key = c.holder::text AND (w.before ? 'port' OR w.before ? 'protocol')`;
  if (isTouched.has('modules'))
    await tx.$executeRaw`UPDATE modules m SET name = m.id::text FROM wanted w
      WHERE w.entity = 'modules' AND w.row_key = m.id::text AND w.after IS NOT NULL AND w.before ? 'name'`;
  for (const table of tables) {
    await tx.$executeRawUnsafe(updateStatement(table));
    // Rows stored before a column existed get its default.
    const shapes = await tx.$queryRaw<{ columns: string[] }[]>`
      SELECT DISTINCT ARRAY(SELECT jsonb_object_keys(before) ORDER BY 1) AS columns FROM wanted
      WHERE entity = ${table.name} AND before IS NOT NULL AND after IS NULL`;
    for (const { columns } of shapes) await tx.$executeRawUnsafe(insertStatement(table, columns));
  }
  if (isTouched.has('domains'))
    await tx.$executeRaw`UPDATE domains d SET cert_status = CASE WHEN d.certificate_id IS NULL THEN 'none' ELSE 'success' END
      FROM wanted w WHERE w.entity = 'domains' AND w.row_key = d.id::text AND w.before ? 'certificate_id'`;
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
const keyOf = (keys: readonly string[]) =>
  keys.length === 1
    ? `x.${quoted(keys[0] ?? '')}::text`
    : `concat_ws(' ', ${keys.map((key) => `x.${quoted(key)}`).join(', ')})`;
const among = ({ name, keys }: Tracked) => `w.entity = '${name}' AND w.row_key = ${keyOf(keys)}`;

const removal = (table: Tracked) =>
  `DELETE FROM ${quoted(table.name)} x USING wanted w WHERE ${among(table)} AND w.before IS NULL`;

/** Columns that no change concerns keep their values. */
function updateStatement(table: Tracked): string {
  const columns = table.columns.filter((column) => ![...table.keys, 'updated_at', 'cache_version'].includes(column));
  if (columns.length === 0) return 'SELECT 1';
  const set = columns.map((column) => `${quoted(column)} = r.${quoted(column)}`);
  if (table.columns.includes('updated_at')) set.push('updated_at = now()');
  const key = table.keys.map((column) => `x.${quoted(column)} = y.${quoted(column)}`).join(' AND ');
  return `UPDATE ${quoted(table.name)} x SET ${set.join(', ')}
    FROM wanted w, ${quoted(table.name)} y, jsonb_populate_record(y, w.before) r
    WHERE ${among(table)} AND ${key} AND w.before IS NOT NULL AND w.after IS NOT NULL`;
}

function insertStatement(table: Tracked, found: readonly string[]): string {
  const columns = table.columns.filter((column) => found.includes(column));
  const names = columns.map(quoted);
  const values = columns.map((column) => `r.${quoted(column)}`);
  if (table.columns.includes('updated_at')) {
    names.push('updated_at');
    values.push('now()');
  }
  const shape = found.map((column) => `'${column.replaceAll("'", "''")}'`).join(', ');
  return `INSERT INTO ${quoted(table.name)} (${names.join(', ')})
    SELECT ${values.join(', ')} FROM wanted w, jsonb_populate_record(NULL::${quoted(table.name)}, w.before) r
    WHERE w.entity = '${table.name}' AND w.before IS NOT NULL AND w.after IS NULL
      AND ARRAY(SELECT jsonb_object_keys(w.before) ORDER BY 1) = ARRAY[${shape}]::text[]`;
}

/** Documents with lists that restoring may lengthen. */
async function weighedKeys(tx: Tx, siteId: string): Promise<string[]> {
  const rows = await tx.$queryRaw<{ id: string }[]>`
    SELECT DISTINCT CASE entity WHEN 'modules' THEN row_key ELSE parent_id::text END AS id FROM wanted
    WHERE entity IN ('modules', 'redirects')`;
  return [siteKey(siteId), ...rows.map(({ id }) => moduleKey(id))];
}

/** Publishes the documents of all restored rows. */
async function publish(tx: Tx, siteId: string, zoneId: string): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO outbox (zone_id, key)
    SELECT DISTINCT ${zoneId}::uuid, key FROM (
      SELECT 'site/' || ${siteId}::uuid::text AS key FROM wanted
      UNION ALL SELECT 'host/' || label FROM wanted WHERE entity = 'domains'
      UNION ALL SELECT 'host/' || d.name FROM wanted w JOIN domains d ON d.id = w.parent_id
      UNION ALL SELECT 'module/' || row_key FROM wanted WHERE entity = 'modules'
      UNION ALL SELECT 'module/' || m.id FROM wanted w JOIN modules m ON m.id = w.parent_id
      UNION ALL SELECT 'port/' || row_key FROM wanted WHERE entity = 'port_rules'
      UNION ALL SELECT 'port/' || r.id FROM wanted w JOIN port_rules r ON r.id = w.parent_id
    ) keys`;
}
