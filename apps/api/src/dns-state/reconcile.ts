// Applies the wanted records to an account. Changed names are due at once; every ten minutes the whole zone is
// compared. Idempotent, so it can be stopped anywhere. Records that we did not create are left alone.
import pg from 'pg';
import type { Installation } from '../core/installation.ts';
import type { DnsChange, DnsRecords } from '../dns/account.ts';
import { describeError } from '../dns/provider.ts';
import { DnsRateLimitedError, DnsRefusedError } from '../dns/refusal.ts';
import { MAX_SINGLE_LOOKUPS } from '../dns/batches.ts';
import { IS_SAME, offerOf, openPending, type Setting } from './accounts.ts';
import {
  markUncertain,
  saveManagedKeys,
  postpone,
  markDue,
  settle,
  settledNames,
  takeDue,
  type DueName,
} from './due-names.ts';
import { isSame, keyIn, keyOf, recordsOf, type Offer } from './records.ts';
import type { SettingLock } from './setting-locks.ts';

/** Outcomes are stored in batches of this size. */
const SETTLE_BATCH = 50;
/** After this many consecutive refusals the account is at fault, rather than the names. */
const MAX_CONSECUTIVE_REFUSALS = 3;
const NAMES_SHOWN = 20;
/** All existing records of the name are ours, by an operator's decision. */
const ALL_RECORDS = '*';

type Deps = Pick<Installation, 'pool' | 'env' | 'secrets'>;
interface Work {
  due: DueName;
  records: DnsRecords[];
  changes: DnsChange[];
}
/** The account is temporarily unavailable. */
class UnavailableError extends Error {}

/** Returns whether the provider was called. On abort, stops after the current step. */
export async function reconcile(
  deps: Deps,
  settingId: string,
  lock: SettingLock,
  isEnding: () => boolean,
): Promise<boolean> {
  const isStopping = () => isEnding() || lock.lost.aborted;
  const setting = await openPending(deps, settingId);
  if (!setting) return false;
  const { pool } = deps;
  try {
    const listed = setting.isListDue || setting.offer === null ? await compare(deps, setting) : null;
    const offer = listed?.offer ?? setting.offer ?? { lines: {}, weighting: 'none' };
    let existing: ExistingRecords = listed?.existing ?? null;
    while (!isStopping()) {
      const due = await takeDue(pool, setting);
      if (due.length === 0) break;
      existing = await applyDue(deps, { ...setting, offer }, due, existing, lock, isStopping);
    }
    if (lock.lost.aborted) return true;
    await pool.query(
      'UPDATE dns_setting_states SET tries = 0, held_until = NULL, fault = NULL, fault_at = NULL WHERE setting_id = $1 AND (fault IS NOT NULL OR held_until IS NOT NULL)',
      [settingId],
    );
  } catch (error) {
    // Our own database's errors are not the provider's. The next attempt follows soon.
    if (error instanceof pg.DatabaseError) throw error;
    // If the lock was lost, its new holder reports instead.
    if (!lock.lost.aborted) await backOff(deps, setting, error);
  }
  return true;
}

/** Backs off from 5 seconds, doubling up to 15 minutes, and at least as long as the provider asks. */
async function backOff({ pool }: Deps, { id, credentialsSealed, tries }: Setting, error: unknown) {
  const cause = error instanceof UnavailableError ? error.cause : error;
  const providerMs = cause instanceof DnsRateLimitedError ? cause.afterMs : 0;
  const backOffMs = Math.min(5000 * 2 ** tries, 900_000) * (0.75 + Math.random() * 0.5);
  await pool.query(
    `UPDATE dns_setting_states SET tries = tries + 1, fault = $3, fault_at = now(),
       held_until = now() + interval '1 millisecond' * $4::float8 WHERE setting_id = $1 AND ${IS_SAME}`,
    [id, credentialsSealed, describeError(cause), Math.max(providerMs, backOffMs)],
  );
}

/** Compares the whole zone. Differing names become due again. */
async function compare({ pool }: Deps, { id, clientId, provider, credentialsSealed, account, rootDomain }: Setting) {
  const offer = await offerOf(provider, account, rootDomain);
  const existing = await account.list(rootDomain);
  const byName = Map.groupBy(existing, ({ name }) => name);
  const drifted = (await settledNames(pool, id)).filter((name) => hasDrifted(provider, offer, name, byName));
  const names = drifted.map(({ name }) => name);
  if (names.length > 0) await markDue(pool, id, names);
  await pool.query(
    `UPDATE dns_setting_states SET listed_at = now(), list_due_at = now() + interval '10 minutes' * (0.9 + random() * 0.2),
       offered_lines = $3, weighting = $4, drifted = $5, drifted_names = $6 WHERE setting_id = $1 AND ${IS_SAME}`,
    [id, credentialsSealed, JSON.stringify(offer.lines), offer.weighting, names.length, names.slice(0, NAMES_SHOWN)],
  );
  // Repairs changes that were missed.
  await pool.query('INSERT INTO dns_plans (client_id) VALUES ($1)', [clientId]);
  return { offer, existing: byName };
}

function hasDrifted(
  provider: Setting['provider'],
  offer: Offer,
  { name, wanted, ours }: DueName,
  existing: ReadonlyMap<string, DnsRecords[]>,
): boolean {
  const found = existing.get(name) ?? [];
  const records = recordsOf(provider, offer, name, wanted);
  const isWanted = new Set(records.map(keyOf));
  return (
    records.some(
      (record) =>
        !isSame(
          found.find((one) => keyOf(one) === keyOf(record)),
          record,
        ),
    ) || found.some((one) => ours.includes(keyOf(one)) && !isWanted.has(keyOf(one)))
  );
}

type ExistingRecords = ReadonlyMap<string, DnsRecords[]> | null;

async function applyDue(
  deps: Deps,
  setting: Setting & { offer: Offer },
  due: DueName[],
  known: ExistingRecords,
  lock: SettingLock,
  isStopping: () => boolean,
): Promise<ExistingRecords> {
  const { pool } = deps;
  const { provider, offer } = setting;
  const planned: { due: DueName; records: DnsRecords[] }[] = [];
  for (const one of due) {
    try {
      planned.push({ due: one, records: recordsOf(provider, offer, one.name, one.wanted) });
    } catch (error) {
      await postpone(pool, setting.id, one, describeError(error));
    }
  }
  const isNew = ({ due: { ours }, records }: (typeof planned)[number]) =>
    ours.includes(ALL_RECORDS) || records.some((record) => !ours.includes(keyOf(record)));
  const fresh = planned.filter(isNew).map((one) => one.due.name);
  const { existing, zone } = await listExisting(setting, fresh, known);
  const work: Work[] = [];
  for (const { due: before, records } of planned) {
    const found = existing.get(before.name) ?? [];
    const ours = before.ours.includes(ALL_RECORDS) ? found.filter(isAddressing).map(keyOf) : before.ours;
    const one = { due: { ...before, ours }, records };
    const conflict = isNew(one) ? conflictingRecord(one, found) : undefined;
    if (conflict) {
      const fault = `not ours: ${conflict.type} ${conflict.values.join(' ')}`.slice(0, 500);
      await postpone(pool, setting.id, one.due, fault);
    } else work.push({ ...one, changes: changesOf(one, provider) });
  }
  const written = work.map(({ due: { name, ours }, records }) => ({
    name,
    had: ours.length,
    ours: [...new Set([...ours, ...records.map(keyOf)])],
  }));
  const intended = written.filter(({ had, ours }) => ours.length > had);
  if (intended.length > 0) await saveManagedKeys(pool, setting.id, intended);
  try {
    await applyWork(deps, setting, work, isStopping);
  } finally {
    // The lock's new holder may have written newer records before.
    if (!(await lock.isHeld())) await markUncertain(pool, setting.id, written);
  }
  return zone;
}

/**
 * Lists existing records of names that are new to us. Few names are looked up now, because somebody else may have made
 * their records since the zone was listed. Many share one list for all batches of a run.
 */
async function listExisting({ account, rootDomain }: Setting, fresh: string[], known: ExistingRecords) {
  if (fresh.length > MAX_SINGLE_LOOKUPS) {
    const zone = known ?? Map.groupBy(await account.list(rootDomain), ({ name }) => name);
    return { existing: zone, zone };
  }
  const existing = new Map<string, DnsRecords[]>();
  for (const name of fresh) existing.set(name, await account.list(rootDomain, name));
  return { existing, zone: known };
}

const isAddressing = ({ type }: Pick<DnsRecords, 'type'>) => type !== 'TXT';
/** A record of someone else with the same name that conflicts with ours. An identical one is adopted. */
function conflictingRecord(
  { due: { ours }, records }: { due: DueName; records: DnsRecords[] },
  found: readonly DnsRecords[],
): DnsRecords | undefined {
  const hasAlias = records.some(({ type }) => type === 'CNAME');
  return found.find(
    (one) =>
      !ours.includes(keyOf(one)) &&
      (isAddressing(one) || hasAlias) &&
      !records.some((record) => keyOf(record) === keyOf(one) && isSame(one, record)),
  );
}

/** An alias excludes other records, so it is removed first. Otherwise a name always keeps a value. */
function changesOf(
  { due: { name, ours }, records }: { due: DueName; records: DnsRecords[] },
  provider: Setting['provider'],
): DnsChange[] {
  const wantedKeys = new Set(records.map(keyOf));
  const drops = ours.flatMap((key): DnsChange[] => {
    if (key === ALL_RECORDS || wantedKeys.has(key)) return [];
    const { type, line } = keyIn(key);
    const known = recordType.find((one) => one === type);
    // LUA records exist at PowerDNS only, where the account may have been before.
    if (known === 'LUA' && provider !== 'powerDNS') return [];
    return known === undefined ? [] : [{ drop: { name, type: known, ...(line !== undefined && { line }) } }];
  });
  const puts = records.map((put): DnsChange => ({ put }));
  const types = [...records.map(({ type }) => type), ...ours.map((key) => keyIn(key).type)];
  return types.includes('CNAME') || types.includes('LUA') ? [...drops, ...puts] : [...puts, ...drops];
}
const recordType = ['A', 'AAAA', 'CNAME', 'LUA'] as const;

async function applyWork(deps: Deps, setting: Setting, work: readonly Work[], isStopping: () => boolean) {
  const { pool } = deps;
  const { account, rootDomain, id } = setting;
  let refusals = 0;
  const done = async (some: readonly Work[]) => {
    refusals = 0;
    await settle(
      pool,
      id,
      some.map(({ due: { name, generation }, records }) => ({ name, generation, ours: records.map(keyOf) })),
    );
  };
  const refused = async ({ due }: Work, error: unknown) => {
    if (!(error instanceof DnsRefusedError) || error instanceof DnsRateLimitedError) throw error;
    await postpone(pool, id, due, describeError(error));
    refusals += 1;
    if (refusals >= MAX_CONSECUTIVE_REFUSALS) throw new UnavailableError('refused', { cause: error });
  };

  const { change } = account;
  if (change) {
    // A refused batch is halved until the offending name is found.
    const applyBatch = async (some: readonly Work[]): Promise<void> => {
      const [first] = some;
      if (!first || isStopping()) return;
      try {
        await change(
          rootDomain,
          some.flatMap(({ changes }) => changes),
        );
      } catch (error) {
        if (some.length === 1) return refused(first, error);
        if (!(error instanceof DnsRefusedError) || error instanceof DnsRateLimitedError) throw error;
        const half = Math.ceil(some.length / 2);
        await applyBatch(some.slice(0, half));
        return applyBatch(some.slice(half));
      }
      await done(some);
    };
    return applyBatch(work);
  }
  if (work.length > MAX_SINGLE_LOOKUPS) await account.readAhead?.(rootDomain);
  const queue = work.values();
  let finished: Work[] = [];
  const settleSome = async (atLeast: number) => {
    if (finished.length < atLeast) return;
    const some = finished;
    finished = [];
    await done(some);
  };
  const worker = async () => {
    for (const one of queue) {
      if (isStopping()) return;
      try {
        for (const each of one.changes)
          await ('put' in each ? account.upsert(rootDomain, each.put) : account.remove(rootDomain, each.drop));
      } catch (error) {
        await refused(one, error);
        continue;
      }
      refusals = 0;
      finished.push(one);
      await settleSome(SETTLE_BATCH);
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: account.concurrency ?? 1 }, worker));
  // Completed updates are stored even if the account failed since.
  await settleSome(1);
  const failed = ended.find((one) => one.status === 'rejected');
  if (failed) throw failed.reason;
}
