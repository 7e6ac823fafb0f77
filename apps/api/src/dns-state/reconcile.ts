// Applies the wanted records to an account. Changed names are due at once; every ten minutes the whole zone is
// compared. Idempotent, so it can be stopped anywhere. Records that we did not create are left alone.
import pg from 'pg';
import type { Installation } from '../core/installation.ts';
import type { DnsChange, DnsRecords } from '../dns/account.ts';
import { words } from '../dns/provider.ts';
import { DnsBusy, DnsRefusal } from '../dns/refusal.ts';
import { LOOKED_UP_SINGLY } from '../dns/packs.ts';
import { IS_SAME, offerOf, openWaiting, type Setting } from './accounts.ts';
import { doubt, keepOurs, postpone, renew, settle, settledNames, takeDue, type DueName } from './due-names.ts';
import { isSame, keyIn, keyOf, recordsOf, type Offer } from './records.ts';
import type { SettingLock } from './setting-locks.ts';

/** Outcomes are stored in batches of this size. */
const SETTLED_AT_ONCE = 50;
/** After this many consecutive refusals the account is at fault, rather than the names. */
const MAX_CONSECUTIVE_REFUSALS = 3;
const NAMES_SHOWN = 20;
/** All existing records of the name are ours, by an operator's decision. */
const ALL = '*';

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
  parts: Deps,
  settingId: string,
  lock: SettingLock,
  isEnding: () => boolean,
): Promise<boolean> {
  const isStopping = () => isEnding() || lock.lost.aborted;
  const setting = await openWaiting(parts, settingId);
  if (!setting) return false;
  const { pool } = parts;
  try {
    const listed = setting.isListDue || setting.offer === null ? await compare(parts, setting) : null;
    const offer = listed?.offer ?? setting.offer ?? { lines: {}, weighting: 'none' };
    let there: There = listed?.there ?? null;
    while (!isStopping()) {
      const due = await takeDue(pool, setting);
      if (due.length === 0) break;
      there = await workOff(parts, { ...setting, offer }, due, there, lock, isStopping);
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
    if (!lock.lost.aborted) await hold(parts, setting, error);
  }
  return true;
}

/** Backs off from 5 seconds, doubling up to 15 minutes, and at least as long as the provider asks. */
async function hold({ pool }: Deps, { id, credentialsSealed, tries }: Setting, error: unknown) {
  const cause = error instanceof UnavailableError ? error.cause : error;
  const askedForMs = cause instanceof DnsBusy ? cause.afterMs : 0;
  const ownMs = Math.min(5000 * 2 ** tries, 900_000) * (0.75 + Math.random() * 0.5);
  await pool.query(
    `UPDATE dns_setting_states SET tries = tries + 1, fault = $3, fault_at = now(),
       held_until = now() + interval '1 millisecond' * $4::float8 WHERE setting_id = $1 AND ${IS_SAME}`,
    [id, credentialsSealed, words(cause), Math.max(askedForMs, ownMs)],
  );
}

/** Compares the whole zone. Differing names become due again. */
async function compare({ pool }: Deps, { id, clientId, provider, credentialsSealed, account, rootDomain }: Setting) {
  const offer = await offerOf(provider, account, rootDomain);
  const there = await account.list(rootDomain);
  const byName = Map.groupBy(there, ({ name }) => name);
  const drifted = (await settledNames(pool, id)).filter((name) => isOtherwise(provider, offer, name, byName));
  const names = drifted.map(({ name }) => name);
  if (names.length > 0) await renew(pool, id, names);
  await pool.query(
    `UPDATE dns_setting_states SET listed_at = now(), list_due_at = now() + interval '10 minutes' * (0.9 + random() * 0.2),
       offered_lines = $3, weighting = $4, drifted = $5, drifted_names = $6 WHERE setting_id = $1 AND ${IS_SAME}`,
    [id, credentialsSealed, JSON.stringify(offer.lines), offer.weighting, names.length, names.slice(0, NAMES_SHOWN)],
  );
  // Repairs changes that were missed.
  await pool.query('INSERT INTO dns_plans (client_id) VALUES ($1)', [clientId]);
  return { offer, there: byName };
}

function isOtherwise(
  provider: Setting['provider'],
  offer: Offer,
  { name, wanted, ours }: DueName,
  there: ReadonlyMap<string, DnsRecords[]>,
): boolean {
  const found = there.get(name) ?? [];
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

type There = ReadonlyMap<string, DnsRecords[]> | null;

async function workOff(
  parts: Deps,
  setting: Setting & { offer: Offer },
  due: DueName[],
  known: There,
  lock: SettingLock,
  isStopping: () => boolean,
): Promise<There> {
  const { pool } = parts;
  const { provider, offer } = setting;
  const planned: { due: DueName; records: DnsRecords[] }[] = [];
  for (const one of due) {
    try {
      planned.push({ due: one, records: recordsOf(provider, offer, one.name, one.wanted) });
    } catch (error) {
      await postpone(pool, setting.id, one, words(error));
    }
  }
  const isNew = ({ due: { ours }, records }: (typeof planned)[number]) =>
    ours.includes(ALL) || records.some((record) => !ours.includes(keyOf(record)));
  const fresh = planned.filter(isNew).map((one) => one.due.name);
  const { there, zone } = await look(setting, fresh, known);
  const work: Work[] = [];
  for (const { due: before, records } of planned) {
    const found = there.get(before.name) ?? [];
    const ours = before.ours.includes(ALL) ? found.filter(isAddressing).map(keyOf) : before.ours;
    const one = { due: { ...before, ours }, records };
    const stranger = isNew(one) ? strangerBeside(one, found) : undefined;
    if (stranger) {
      const fault = `not ours: ${stranger.type} ${stranger.values.join(' ')}`.slice(0, 500);
      await postpone(pool, setting.id, one.due, fault);
    } else work.push({ ...one, changes: changesOf(one, provider) });
  }
  const written = work.map(({ due: { name, ours }, records }) => ({
    name,
    had: ours.length,
    ours: [...new Set([...ours, ...records.map(keyOf)])],
  }));
  const intended = written.filter(({ had, ours }) => ours.length > had);
  if (intended.length > 0) await keepOurs(pool, setting.id, intended);
  try {
    await carryOut(parts, setting, work, isStopping);
  } finally {
    // The lock's new holder may have written newer records before.
    if (!(await lock.isHeld())) await doubt(pool, setting.id, written);
  }
  return zone;
}

/** Lists existing records of names that are new to us. */
async function look({ account, rootDomain }: Setting, fresh: string[], known: There) {
  if (fresh.length === 0) return { there: new Map<string, DnsRecords[]>(), zone: known };
  if (known) return { there: known, zone: known };
  if (fresh.length > LOOKED_UP_SINGLY) {
    const zone = Map.groupBy(await account.list(rootDomain), ({ name }) => name);
    return { there: zone, zone };
  }
  const there = new Map<string, DnsRecords[]>();
  for (const name of fresh) there.set(name, await account.list(rootDomain, name));
  return { there, zone: null };
}

const isAddressing = ({ type }: Pick<DnsRecords, 'type'>) => type !== 'TXT';
/** A record of someone else with the same name that conflicts with ours. An identical one is adopted. */
function strangerBeside(
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
    if (key === ALL || wantedKeys.has(key)) return [];
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

async function carryOut(parts: Deps, setting: Setting, work: readonly Work[], isStopping: () => boolean) {
  const { pool } = parts;
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
    if (!(error instanceof DnsRefusal) || error instanceof DnsBusy) throw error;
    await postpone(pool, id, due, words(error));
    refusals += 1;
    if (refusals >= MAX_CONSECUTIVE_REFUSALS) throw new UnavailableError('refused', { cause: error });
  };

  const { change } = account;
  if (change) {
    // A refused batch is halved until the offending name is found.
    const together = async (some: readonly Work[]): Promise<void> => {
      const [first] = some;
      if (!first || isStopping()) return;
      try {
        await change(
          rootDomain,
          some.flatMap(({ changes }) => changes),
        );
      } catch (error) {
        if (some.length === 1) return refused(first, error);
        if (!(error instanceof DnsRefusal) || error instanceof DnsBusy) throw error;
        const half = Math.ceil(some.length / 2);
        await together(some.slice(0, half));
        return together(some.slice(half));
      }
      await done(some);
    };
    return together(work);
  }
  if (work.length > LOOKED_UP_SINGLY) await account.readAhead?.(rootDomain);
  const queue = work.values();
  let finished: Work[] = [];
  const settleSome = async (atLeast: number) => {
    if (finished.length < atLeast) return;
    const some = finished;
    finished = [];
    await done(some);
  };
  const lane = async () => {
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
      await settleSome(SETTLED_AT_ONCE);
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: account.atOnce ?? 1 }, lane));
  // Completed updates are stored even if the account failed since.
  await settleSome(1);
  const failed = ended.find((one) => one.status === 'rejected');
  if (failed) throw failed.reason;
}
