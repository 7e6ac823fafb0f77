// The offline license of this installation. It limits all operators together; without one nothing is limited.
import type { License, Licensed } from '@edgeloom/contract/licenses/licenses.ts';
import { LicenseFile, type InstallationLicense } from '@edgeloom/contract/licenses/offline-licenses.ts';
import { fail } from './fail.ts';
import type { Installation } from './installation.ts';
import { illegal, licenseKeys, openLicense } from './license-file.ts';
import { sql, textOf, type Sql } from './sql.ts';

/** The loaded file, and what it is compared with. */
interface Loaded {
  document: string | null;
  counter: number;
  seenAt: Date | null;
  loadedAt: Date | null;
  machineCode: string;
}
const columns = sql`document, counter::float8 AS counter, seen_at AS "seenAt", loaded_at AS "loadedAt", machine_code() AS "machineCode"`;

/** Locks the license, so that concurrent inserts of all operators cannot exceed its limits. */
export const loadedLicense: Sql = sql`SELECT ${columns} FROM installation_license WHERE document IS NOT NULL FOR UPDATE`;

/** Subqueries that count what the whole installation uses. */
export const totals: Record<Licensed, Sql> = {
  sites: sql`(SELECT count(*)::int FROM sites)`,
  nodes: sql`(SELECT count(*)::int FROM nodes)`,
  zones: sql`(SELECT count(*)::int FROM zones)`,
  domains: sql`(SELECT count(*)::int FROM domains)`,
  autoCertificates: sql`(SELECT count(*)::int FROM certificates WHERE type = 'automatic')`,
};

/** Limits of a loaded license. Fails when it has expired or belongs to another installation. */
export function limitsInForce(loaded: Loaded, now: Date): Pick<License, 'limits' | 'layer4'> | null {
  const terms = termsOf(loaded);
  if (terms === null) return null;
  if (terms.machineCode !== loaded.machineCode) illegal('licenseMachine');
  if (hasEnded(terms.notAfter, timeOf(loaded, now))) fail('LICENSE_EXPIRED');
  const { siteLimit, nodeLimit, zoneLimit, domainLimit, autoCertificateLimit, layer4 } = terms;
  const limits = {
    sites: siteLimit,
    nodes: nodeLimit,
    zones: zoneLimit,
    domains: domainLimit,
    autoCertificates: autoCertificateLimit,
  };
  return { limits, layer4 };
}

export async function readInstallationLicense(
  { pool }: Pick<Installation, 'pool'>,
  now: Date,
): Promise<InstallationLicense> {
  const { sites, nodes, zones, domains, autoCertificates } = totals;
  const statement = sql`SELECT ${columns}, json_build_object('sites', ${sites}, 'nodes', ${nodes}, 'zones', ${zones},
    'domains', ${domains}, 'autoCertificates', ${autoCertificates}) AS uses FROM installation_license`;
  const { rows } = await pool.query<Loaded & { uses: License['uses'] }>(textOf(statement), [...statement.values]);
  const row = rows[0] ?? fail('NOT_FOUND');
  const terms = termsOf(row);
  return {
    machineCode: row.machineCode,
    license: terms,
    isExpired: terms !== null && hasEnded(terms.notAfter, timeOf(row, now)),
    uses: row.uses,
    loadedAt: row.loadedAt,
  };
}

export async function loadLicense(
  installation: Pick<Installation, 'db' | 'pool' | 'env'>,
  text: string,
  now: Date,
): Promise<InstallationLicense> {
  const license = openLicense(text, await licenseKeys(installation.env));
  await installation.db.$transaction(async (tx) => {
    const [row] = await tx.$queryRawUnsafe<Loaded[]>(
      textOf(sql`SELECT ${columns} FROM installation_license FOR UPDATE`),
    );
    if (!row) fail('NOT_FOUND');
    const at = timeOf(row, now);
    if (license.machineCode !== row.machineCode) illegal('licenseMachine');
    if (license.counter < row.counter) illegal('licenseCounter');
    if (license.notBefore > at) illegal('licenseEarly', { from: license.notBefore.toISOString() });
    if (hasEnded(license.notAfter, at)) fail('LICENSE_EXPIRED');
    await tx.installationLicense.update({
      where: { id: 1 },
      data: { document: text, counter: license.counter, seenAt: at, loadedAt: at },
    });
  });
  return readInstallationLicense(installation, now);
}

/** Remembers the time, so that a clock that is set back does not prolong a license. */
export const noteLicenseTime = ({ pool }: Pick<Installation, 'pool'>, now: Date) =>
  pool.query('UPDATE installation_license SET seen_at = $1 WHERE document IS NOT NULL AND seen_at < $1', [now]);

const termsOf = ({ document }: Loaded) => (document === null ? null : LicenseFile.parse(JSON.parse(document)).license);
const hasEnded = (notAfter: Date | null, at: Date) => notAfter !== null && notAfter <= at;
/** A clock before the highest time that was seen counts as that time. */
const timeOf = ({ seenAt }: Loaded, now: Date) => (seenAt !== null && seenAt > now ? seenAt : now);
