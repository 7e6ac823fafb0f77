// The offline license of this installation. It limits all operators together; without one nothing is limited.
// Its time comes from PostgreSQL, so that all API processes have the same clock.
import { Licensed, type License } from '@edgeloom/contract/licenses/licenses.ts';
import { LoadedTerms, type InstallationLicense } from '@edgeloom/contract/licenses/offline-licenses.ts';
import * as z from 'zod';
import { fail, fieldError } from './fail.ts';
import type { Installation } from './installation.ts';
import { licenseKeys, openLicense, rejectLicense } from './license-file.ts';
import { sql, textOf, type Sql } from './sql.ts';

const DAY_MS = 86_400_000;
/** A database that was restored into another PostgreSQL cluster keeps its license for this long. */
const OTHER_MACHINE_DAYS = 14;
/** The clocks of seller and buyer may differ by this much. */
const CLOCK_TOLERANCE_MS = 3_600_000;

export interface LicenseRow {
  document: string | null;
  counter: number;
  now: Date;
  /** The highest time that was seen. An earlier clock counts as this time. */
  seenAt: Date | null;
  /** Since when the file's machine code is not that of the database. */
  movedAt: Date | null;
  loadedAt: Date | null;
  machineCode: string;
}

const isMoved = sql`document::json->'license'->>'machineCode' <> machine_code()`;
const columns = sql`document, counter::float8 AS counter, now() AS now, seen_at AS "seenAt", loaded_at AS "loadedAt",
  machine_code() AS "machineCode", CASE WHEN ${isMoved} THEN coalesce(moved_at, greatest(now(), seen_at)) END AS "movedAt"`;

export const selectLoaded: Sql = sql`SELECT ${columns} FROM installation_license WHERE document IS NOT NULL`;

/** Subqueries that count what the whole installation uses. */
export const totals: Record<Licensed, Sql> = {
  sites: sql`(SELECT count(*)::int FROM sites)`,
  nodes: sql`(SELECT count(*)::int FROM nodes)`,
  zones: sql`(SELECT count(*)::int FROM zones)`,
  domains: sql`(SELECT count(*)::int FROM domains)`,
  autoCertificates: sql`(SELECT count(*)::int FROM certificates WHERE type = 'automatic')`,
};

/** For errors whose codes are also those of an operator's own license. */
export const ofInstallation = { errorData: [fieldError('', 'installationLicense', '')] };

/** The terms of a loaded license. Fails when it has expired or is too long on another machine. */
export function termsInForce(row: LicenseRow): LoadedTerms | null {
  const terms = termsOf(row);
  if (terms && isExpired(terms, row)) fail('LICENSE_EXPIRED', ofInstallation);
  return terms;
}

export const limitsOf = (terms: LoadedTerms): License['limits'] => ({
  sites: terms.siteLimit,
  nodes: terms.nodeLimit,
  zones: terms.zoneLimit,
  domains: terms.domainLimit,
  autoCertificates: terms.autoCertificateLimit,
});

export async function readInstallationLicense({ pool }: Pick<Installation, 'pool'>): Promise<InstallationLicense> {
  const { sites, nodes, zones, domains, autoCertificates } = totals;
  const statement = sql`SELECT ${columns}, json_build_object('sites', ${sites}, 'nodes', ${nodes}, 'zones', ${zones},
    'domains', ${domains}, 'autoCertificates', ${autoCertificates}) AS uses FROM installation_license`;
  const { rows } = await pool.query<LicenseRow & Pick<License, 'uses'>>(textOf(statement), [...statement.values]);
  const row = rows[0] ?? fail('NOT_FOUND');
  const terms = termsOf(row);
  return {
    machineCode: row.machineCode,
    license: terms,
    isExpired: terms !== null && isExpired(terms, row),
    otherMachineUntil: otherMachineUntil(row),
    uses: row.uses,
    loadedAt: row.loadedAt,
  };
}

export interface LoadedLicense extends Pick<InstallationLicense, 'isExpired' | 'otherMachineUntil'> {
  terms: LoadedTerms;
  /** Only for what the license limits. */
  uses: Partial<License['uses']>;
}

/** Null if no license is loaded. Counts only what the license limits, since dashboards ask each minute. */
export async function readLoadedLicense({ pool }: Pick<Installation, 'pool'>): Promise<LoadedLicense | null> {
  const { rows } = await pool.query<LicenseRow>(textOf(selectLoaded));
  const [row] = rows;
  const terms = row ? termsOf(row) : null;
  if (!row || !terms) return null;
  const uses: LoadedLicense['uses'] = {};
  for (const thing of Licensed.options)
    if (limitsOf(terms)[thing] > 0) uses[thing] = await countTotal(pool, totals[thing]);
  return { terms, isExpired: isExpired(terms, row), otherMachineUntil: otherMachineUntil(row), uses };
}

async function countTotal(pool: Installation['pool'], total: Sql): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(`SELECT ${textOf(total)} AS count`);
  return rows[0]?.count ?? 0;
}

export async function loadLicense(
  installation: Pick<Installation, 'db' | 'pool' | 'env'>,
  text: string,
): Promise<InstallationLicense> {
  const license = openLicense(text, await licenseKeys(installation.env));
  await installation.db.$transaction(async (tx) => {
    const [row] = await tx.$queryRawUnsafe<LicenseRow[]>(
      textOf(sql`SELECT ${columns} FROM installation_license FOR UPDATE`),
    );
    if (!row) fail('NOT_FOUND');
    if (license.machineCode !== row.machineCode) rejectLicense('licenseMachine');
    if (license.counter < row.counter) rejectLicense('licenseCounter');
    // A newer file corrects a time that was stored while the clock was wrong. It is not earlier than its signing.
    const time = license.counter > row.counter ? laterOf(row.now, license.issuedAt) : timeOf(row);
    const { notBefore, notAfter } = license;
    if (notBefore.getTime() > time.getTime() + CLOCK_TOLERANCE_MS)
      rejectLicense('licenseEarly', { from: notBefore.toISOString() });
    if (notAfter !== null && notAfter <= time) fail('LICENSE_EXPIRED');
    await tx.installationLicense.update({
      where: { id: 1 },
      data: {
        document: text,
        counter: license.counter,
        seenAt: laterOf(time, notBefore),
        notedAt: row.now,
        movedAt: null,
        loadedAt: row.now,
      },
    });
  });
  return readInstallationLicense(installation);
}

/**
 * Stores the time, once a minute by each API process. A clock that is set back counts on from the stored time, by the
 * time that has passed since.
 */
export const noteLicenseTime = ({ pool }: Pick<Installation, 'pool'>) =>
  pool.query(`UPDATE installation_license SET noted_at = now(),
    seen_at = greatest(now(), seen_at + least(greatest(now() - noted_at, '0'), '2 minutes')),
    moved_at = CASE WHEN ${textOf(isMoved)} THEN coalesce(moved_at, greatest(now(), seen_at)) END
    WHERE document IS NOT NULL`);

const StoredFile = z.object({ license: LoadedTerms });
const termsOf = ({ document }: LicenseRow) =>
  document === null ? null : StoredFile.parse(JSON.parse(document)).license;

const laterOf = (one: Date, other: Date | null) => (other !== null && other > one ? other : one);
const timeOf = ({ now, seenAt }: LicenseRow) => laterOf(now, seenAt);
const otherMachineUntil = ({ movedAt }: LicenseRow) =>
  movedAt && new Date(movedAt.getTime() + OTHER_MACHINE_DAYS * DAY_MS);

function isExpired({ notAfter }: LoadedTerms, row: LicenseRow): boolean {
  const time = timeOf(row);
  return [notAfter, otherMachineUntil(row)].some((end) => end !== null && end <= time);
}
