// Validates domain control: http-01 by the zone's nodes, or dns-01 by a record.
import { createHash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type acme from 'acme-client';
import { acmeKey } from '@edgeloom/contract/edge/documents.ts';
import { lockClasses } from '../core/locks.ts';
import { describeError } from '../dns/provider.ts';
import { inSingleTransaction, withClient } from '../node-link/transactions.ts';
import { isUnder } from '../modules/certificates/orders.ts';
import { DnsProvider } from '@edgeloom/contract/dns-account/dns-account.ts';
import { openCredentials } from '../dns/credentials.ts';
import type { DnsAccount } from '../dns/account.ts';
import { openDns, propagationMs } from '../dns/provider.ts';
import { openDnsLookup, type LookupResult } from '../dns/dns-lookup.ts';
import { note, type Deps, type OrderRow, type Work } from './order.ts';

/** The name cannot be validated. A retry would not help. */
export class ValidationRefusedError extends Error {}

type Authorization = Awaited<ReturnType<acme.Client['getAuthorizations']>>[number];
type Order = Awaited<ReturnType<acme.Client['createOrder']>>;

/** Connected nodes respond within this time, or are not waited for. */
const NODES_MS = 30_000;
const LOOK_MS = 250;
/** Some authorities check several times and slowly. */
const AUTHORITY_MS = 120_000;
/** Secondary name servers may take a while. */
const SEEN_MS = 120_000;
const LOOKS_AT_ONCE = 10;
const MAX_SHOWN_ERRORS = 3;
const ENDED_AT_ONCE = 100;

interface DnsRow {
  id: string;
  provider: string;
  credentialsSealed: string;
  domains: string[];
}

export async function validateControl(work: Work, client: acme.Client, order: Order): Promise<void> {
  const all = await client.getAuthorizations(order);
  refuseInvalid(all);
  const dns = await readDns(work);
  await assertServed(work, all, dns);
  const chosen = (await Promise.all(all.map((authorization) => choose(work, client, authorization, dns)))).flat();
  for (const one of chosen) await put(work, one);
  await reachable(work, chosen);
  const settling = chosen.map((one) => (one.dns ? propagationMs[DnsProvider.parse(one.dns.provider)] : 0));
  await setTimeout(Math.max(0, ...settling), undefined, { signal: work.signal });
  await seen(work, chosen);
  const pending = chosen.filter(({ challenge }) => challenge?.status === 'pending');
  for (const { challenge } of pending) if (challenge) await client.completeChallenge(challenge);
  if (pending.length > 0) await note(work.deps.pool, work, 'notified', pending.map(({ name }) => name).join(' '));
  await validated(work, client, order);
  await note(work.deps.pool, work, 'validated');
}

interface Chosen {
  name: string;
  /** Null: the authority has already validated the name, and only our own check remains. */
  challenge: Authorization['challenges'][number] | null;
  value: string;
  dns: DnsRow | null;
}

const nameOf = ({ identifier, wildcard }: Authorization) =>
  wildcard === true ? `*.${identifier.value}` : identifier.value;

async function choose(
  { order }: Work,
  client: acme.Client,
  authorization: Authorization,
  accounts: DnsRow[],
): Promise<Chosen[]> {
  const name = nameOf(authorization);
  const dns = accounts.find(({ domains }) => isUnder(name, domains)) ?? null;
  if (authorization.status === 'valid') {
    if (dns === null) return [];
    // An authority remembers proofs for weeks, and all sites share our account. A site with its own DNS account proves
    // the name itself.
    const value = createHash('sha256').update(`${order.id} ${name}`).digest('base64url');
    return [{ name, challenge: null, value, dns }];
  }
  const type = dns === null ? 'http-01' : 'dns-01';
  const challenge = authorization.challenges.find((one) => one.type === type);
  if (!challenge) throw new ValidationRefusedError(`${name}: the authority offers no ${type}`);
  return [{ name, challenge, value: await client.getChallengeKeyAuthorization(challenge), dns }];
}

/** A name may have moved to another customer since the order was opened. Our nodes must not validate it then. */
async function assertServed({ deps: { pool }, order }: Work, all: Authorization[], dns: DnsRow[]) {
  const byNodes = all.map(nameOf).filter((name) => !dns.some(({ domains }) => isUnder(name, domains)));
  const { rows } = await pool.query<{ name: string }>(
    'SELECT enabled_name AS name FROM domains WHERE site_id = $1 AND enabled_name = ANY($2)',
    [order.siteId, byNodes],
  );
  const gone = byNodes.filter((name) => !rows.some((row) => row.name === name));
  if (gone.length > 0) throw new ValidationRefusedError(`${gone.join(' ')}: not a domain of this site that is on`);
}

async function readDns({ deps: { pool }, order }: { deps: Deps; order: Pick<OrderRow, 'siteId'> }): Promise<DnsRow[]> {
  const { rows } = await pool.query<DnsRow>(
    'SELECT id, provider, credentials_sealed AS "credentialsSealed", domains FROM site_dns WHERE site_id = $1 ORDER BY id',
    [order.siteId],
  );
  return rows;
}

async function put(work: Work, { name, challenge, value, dns }: Chosen): Promise<void> {
  const { deps, order } = work;
  const type = challenge?.type ?? 'dns-01';
  // A trigger notifies the nodes.
  const { rowCount } = await deps.pool.query(
    `INSERT INTO acme_challenges (token, order_id, type, site_id, zone_id, name, key_authorization, dns_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (token, order_id) DO NOTHING`,
    [challenge?.token ?? value, order.id, type, order.siteId, order.zoneId, name, value, dns?.id ?? null],
  );
  if (dns !== null) await changeRecord(deps, dns, name, (values) => [...new Set([...values, value])]);
  if (rowCount === 1) await note(deps.pool, work, 'challenge', `${type} ${name}`);
}

const recordOf = (name: string) => `_acme-challenge.${name.replace(/^\*\./, '')}`;

/** Serializes changes of one account: concurrent orders of one name keep each other's values. */
async function changeRecord(deps: Deps, row: DnsRow, name: string, change: (values: string[]) => string[]) {
  const account: DnsAccount = openDns(deps.env, openCredentials(deps.secrets, 'site_dns', row));
  const zone = row.domains.filter((one) => isUnder(name, [one])).toSorted((a, b) => b.length - a.length)[0] ?? '';
  const record = { name: recordOf(name), type: 'TXT' as const };
  await withClient(deps.pool, (client) =>
    inSingleTransaction(client, async () => {
      // Some providers are slow, and the transaction is idle during their calls.
      await client.query(`SET LOCAL idle_in_transaction_session_timeout = '10min'`);
      await client.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [lockClasses.acmeRecords, row.id]);
      try {
        const all = await account.list(zone);
        const values = all.find((one) => one.name === record.name && one.type === 'TXT')?.values ?? [];
        const wanted = change(values);
        if (wanted.length > 0) await account.upsert(zone, { ...record, values: wanted, ttlSeconds: 60 });
        else if (values.length > 0) await account.remove(zone, record);
      } catch (error) {
        throw new ValidationRefusedError(`${record.name}: ${describeError(error)}`, { cause: error });
      }
    }),
  );
}

/** Waits until all connected nodes can answer the challenge. Disconnected ones receive it when they return. */
async function reachable({ deps: { pool }, order, signal }: Work, chosen: Chosen[]) {
  const keys = chosen.flatMap(({ challenge, dns }) => (challenge && dns === null ? [acmeKey(challenge.token)] : []));
  if (keys.length === 0) return;
  for (const until = Date.now() + NODES_MS; Date.now() < until; await setTimeout(LOOK_MS, undefined, { signal })) {
    const { rows } = await pool.query<{ ready: boolean }>(
      `SELECT NOT EXISTS (
         SELECT FROM nodes n JOIN node_states s ON s.node_id = n.id
         WHERE n.zone_id = $1 AND n.enabled AND s.connected_at IS NOT NULL AND s.last_seen_at > now() - interval '75 seconds'
           AND (count(e.key) < cardinality($2::text[]) OR s.revision < max(e.revision))) AS ready
       FROM edge_documents e WHERE e.zone_id = $1 AND e.key = ANY($2) AND e.body IS NOT NULL`,
      [order.zoneId, keys],
    );
    if (rows[0]?.ready === true) return;
  }
}

/**
 * Failed validations count against everyone who uses our account. So validation starts only when the public DNS shows
 * the value. A provider account alone does not prove ownership of a name.
 */
async function seen({ deps, now, signal }: Work, chosen: Chosen[]) {
  const byDns = chosen.filter(({ dns }) => dns !== null);
  const records = Map.groupBy(byDns, ({ name }) => recordOf(name));
  const look = openDnsLookup(deps.env);
  let left = [...records.keys()];
  let pause = 1000;
  for (const until = now().getTime() + SEEN_MS; left.length > 0; await setTimeout(pause, undefined, { signal })) {
    pause = Math.min(pause * 2, 10_000);
    const sights: [string, LookupResult][] = [];
    const queue = left.values();
    const worker = async () => {
      for (const name of queue) {
        const values = (records.get(name) ?? []).map(({ value }) => value);
        sights.push([name, await look(name, values)]);
      }
    };
    await Promise.all(Array.from({ length: LOOKS_AT_ONCE }, worker));
    const missing = sights.filter(([, { isShown }]) => !isShown);
    left = missing.map(([name]) => name);
    if (left.length === 0) return;
    if (now().getTime() < until) continue;
    const messages = missing.slice(0, MAX_SHOWN_ERRORS).map(([, sight]) => sight.message);
    throw new ValidationRefusedError(
      `the record is not visible in DNS, so the authority was not asked to validate: ${messages.join('; ')}`,
    );
  }
}

async function validated({ signal }: Work, client: acme.Client, order: Order) {
  let pause = 100;
  for (const until = Date.now() + AUTHORITY_MS; Date.now() < until; await setTimeout(pause, undefined, { signal })) {
    pause = Math.min(pause * 2, 3000);
    const all = await client.getAuthorizations(order);
    refuseInvalid(all);
    if (all.every(({ status }) => status === 'valid')) return;
  }
  throw new Error('the authority has not validated in time');
}

function refuseInvalid(all: Authorization[]) {
  const messages = all
    .filter(({ status }) => !['pending', 'valid', 'processing'].includes(status))
    .map(
      (one) =>
        `${nameOf(one)}: ${one.challenges.map(({ error }) => detailOf(error)).find((text) => text !== '') ?? one.status}`,
    );
  if (messages.length > 0) throw new ValidationRefusedError(messages.join(' '));
}

const detailOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'detail' in error ? String(error.detail) : '';

/** Removes challenges, whatever the outcome. */
export async function clearChallenges(
  deps: Deps,
  { order }: { order: Pick<OrderRow, 'id' | 'siteId'> },
): Promise<void> {
  const { rows } = await deps.pool.query<{ name: string; value: string; dnsId: string | null }>(
    'DELETE FROM acme_challenges WHERE order_id = $1 RETURNING name, key_authorization AS value, dns_id AS "dnsId"',
    [order.id],
  );
  const accounts = rows.some(({ dnsId }) => dnsId !== null) ? await readDns({ deps, order }) : [];
  for (const { name, value, dnsId } of rows) {
    const dns = accounts.find(({ id }) => id === dnsId);
    // A record that cannot be removed no longer proves anything.
    if (dns)
      await changeRecord(deps, dns, name, (values) => values.filter((one) => one !== value)).catch(() => undefined);
  }
}

/**
 * Removes challenges of orders that were replaced or deleted with their certificate. Otherwise they would stay on nodes
 * and in DNS. Returns the number of orders.
 */
export async function clearEndedChallenges(deps: Deps): Promise<number> {
  const { rows } = await deps.pool.query<{ id: string; siteId: string }>(
    `SELECT DISTINCT c.order_id AS id, c.site_id AS "siteId" FROM acme_challenges c
     LEFT JOIN certificate_orders o ON o.id = c.order_id WHERE o.id IS NULL OR o.state <> 'open' LIMIT $1`,
    [ENDED_AT_ONCE],
  );
  for (const order of rows) await clearChallenges(deps, { order });
  return rows.length;
}
