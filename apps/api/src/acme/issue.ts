// Carries out one order from its current state to its end, and stores the outcome.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type acme from 'acme-client';
import type { PoolClient } from 'pg';
import { covers } from '@edgeloom/contract/certificates/certificates.ts';
import { certKey, hostKey } from '@edgeloom/contract/edge/documents.ts';
import { Failure } from '../core/fail.ts';
import { contexts } from '../core/secrets.ts';
import type { Authority } from '../core/env.ts';
import { readPair } from '../modules/certificates/pair.ts';
import { newKey, requestFor } from '../modules/certificates/request.ts';
import { inTransaction, withClient } from '../node-link/transactions.ts';
import { AcmeProblem, forgetAccount, isAuthorityDown, isOnlyLost, openAccount } from './client.ts';
import { noteOutage, readOutages } from './outages.ts';
import { keepLease, LeaseLostError, leases } from '../core/lease.ts';
import { note, oneLine, setOrder, type Deps, type OrderRow, type Work } from './order.ts';
import { returnPlace, takePlace } from './rate-budget.ts';
import { clearChallenges, validateControl, ValidationRefusedError } from './challenge.ts';
import { NAMES_RECHECK_MS, pendingNames } from './pending-names.ts';
import { renewAt, retryAt } from './renewal-schedule.ts';

type Order = Awaited<ReturnType<acme.Client['createOrder']>>;

const SIGNING_MS = 120_000;
/** Attempts at one authority before the next one is used. Without a placed order, one that is down gets only one. */
const TRIES = 3;
/** Attempts of an order before it fails because the authorities are down: about four minutes. */
const TRIES_WHILE_DOWN = 8;
/** An authority's longer Retry-After is not followed. */
const MAX_RETRY_AFTER_SECONDS = 3600;
const SPREAD_MS = 600_000;
/** Errors that another authority may not have. */
const anotherMay = [
  'rateLimited',
  'externalAccountRequired',
  'userActionRequired',
  'rejectedIdentifier',
  'unsupportedIdentifier',
  'caa',
  'unauthorized',
  'malformed',
];

export async function issue(
  deps: Deps,
  order: OrderRow,
  claim: string,
  { now, signal }: Pick<Work, 'now' | 'signal'>,
): Promise<void> {
  const keeping = keepLease(deps.pool, leases.certificateOrders, { id: order.id, claim });
  const base = { deps, order, claim, now, signal };
  try {
    const authority = await chooseAuthority(base);
    if (authority) await carryOut({ ...base, authority });
  } catch (error) {
    // Another process continues the order.
    if (!(error instanceof LeaseLostError)) throw error;
  } finally {
    keeping.stop();
  }
}

/**
 * The order's current authority, or the first untried one with free budget, of which those that are down come last.
 * Null: the order was postponed or has ended.
 */
async function chooseAuthority(base: Omit<Work, 'authority'>): Promise<Authority | null> {
  const {
    deps: { env, pool },
    order,
  } = base;
  const pending = order.placedAt === null ? await pendingNames(base.deps, order) : [];
  if (pending.length > 0) {
    const due = new Date(base.now().getTime() + NAMES_RECHECK_MS);
    await postpone(base, due, `until these names point here: ${pending.join(' ')}`);
    return null;
  }
  const outages = await readOutages(pool, base.now());
  const left = env.ACME_AUTHORITIES.filter(({ directory }) => !order.passed.includes(directory)).toSorted(
    (a, b) => Number(outages.has(a.directory)) - Number(outages.has(b.directory)),
  );
  const current = left.find(({ directory }) => directory === order.ca);
  if (current && order.placedAt !== null) return current;
  if (left.length === 0) {
    await failOrder(
      { ...base, authority: null },
      env.ACME_AUTHORITIES.length === 0 ? 'no authority is configured' : 'no authority is left to ask',
      0,
    );
    return null;
  }
  const free: number[] = [];
  for (const authority of left) {
    const at = await takePlace(base, authority);
    if (at === null) return authority;
    free.push(at.getTime());
  }
  const due = new Date(Math.min(...free) + Math.random() * SPREAD_MS);
  const why = 'the authorities have as many orders as they take in three hours, or this site has had its share of them';
  await postpone(base, due, why);
  return null;
}

/** Each reason is noted once for an order. */
async function postpone(base: Omit<Work, 'authority'>, due: Date, why: string): Promise<void> {
  const {
    deps: { pool },
    order,
  } = base;
  await setOrder(pool, base, { due_at: due, claimed_until: null });
  const { rows } = await pool.query(
    `SELECT FROM certificate_events WHERE certificate_id = $1 AND step = 'waits' AND detail = $3
       AND at >= (SELECT created_at FROM certificate_orders WHERE id = $2)`,
    [order.certificateId, order.id, why],
  );
  if (rows.length === 0) await note(pool, { ...base, authority: null }, 'waits', why);
}

async function carryOut(work: Work): Promise<void> {
  const { deps, authority } = work;
  try {
    const client = await openAccount(deps, authority);
    const chainPem = await certificateFor(work, client);
    await store(work, chainPem);
    await clearChallenges(deps, work);
  } catch (error) {
    if (error instanceof LeaseLostError) throw error;
    // On shutdown the lease is released, so that another process can continue at once.
    if (work.signal.aborted) return setOrder(deps.pool, work, { claimed_until: null });
    await handleOrderError(work, error);
  }
}

async function certificateFor(work: Work, client: acme.Client): Promise<string> {
  let order = await place(work, client);
  // Authorities that remember proofs require none. An order with a stored request has passed this step.
  if (order.status === 'pending' || (order.status === 'ready' && work.order.csrPem === null)) {
    await validateControl(work, client, order);
    order = await until(work, client, order, 'pending');
  }
  if (order.status === 'ready') {
    const csrPem = await requestOf(work);
    order = await client.finalizeOrder(order, csrPem);
  }
  order = await until(work, client, order, 'processing', 'ready');
  if (order.status !== 'valid') throw new ValidationRefusedError(detailOf(order) ?? `the order is ${order.status}`);
  const chainPem = await client.getCertificate(order);
  if (!isOurs(work, chainPem)) throw new UsedUp('the authority made another certificate of the same order');
  return chainPem;
}

/** For equal names an authority may return one order twice. One of the two processes then finalizes it first. */
class UsedUp extends Error {}

const isOurs = ({ deps: { secrets }, order }: Work, chainPem: string) =>
  order.keySealed !== null &&
  new X509Certificate(chainPem).checkPrivateKey(
    createPrivateKey(secrets.open(order.keySealed, contexts.certificateKey(order.certificateId))),
  );

/** The order at the authority: the one placed before a crash, or a new one. */
async function place(work: Work, client: acme.Client): Promise<Order> {
  const {
    deps: { pool },
    order,
  } = work;
  if (order.orderUrl !== null)
    return client.getOrder({
      url: order.orderUrl,
      status: 'pending',
      identifiers: [],
      authorizations: [],
      finalize: '',
    });
  const placed = await client.createOrder({ identifiers: order.names.map((value) => ({ type: 'dns', value })) });
  await setOrder(pool, work, { order_url: placed.url });
  order.orderUrl = placed.url;
  await note(pool, work, 'placed', order.names.join(' '));
  return placed;
}

/** Key and CSR are stored before the authority signs, so a crash cannot lose the certificate's key. */
async function requestOf(work: Work): Promise<string> {
  const {
    deps: { pool, secrets },
    order,
  } = work;
  if (order.csrPem !== null && order.keySealed !== null) return order.csrPem;
  const keyPem = await newKey(order.keyType);
  order.keySealed = secrets.seal(keyPem, contexts.certificateKey(order.certificateId));
  order.csrPem = await requestFor(order.names, keyPem);
  await setOrder(pool, work, { key_sealed: order.keySealed, csr_pem: order.csrPem });
  return order.csrPem;
}

async function until({ signal }: Work, client: acme.Client, order: Order, ...pending: string[]): Promise<Order> {
  let current = order;
  let pause = 100;
  for (const end = Date.now() + SIGNING_MS; pending.includes(current.status) && Date.now() < end;) {
    await setTimeout(pause, undefined, { signal });
    pause = Math.min(pause * 2, 3000);
    current = await client.getOrder(current);
  }
  if (pending.includes(current.status)) throw new Error(`the order stays ${current.status}`);
  return current;
}

/** One transaction: certificate, domains and the end of the order. */
async function store(work: Work, chainPem: string): Promise<void> {
  const {
    deps: { pool, secrets },
    order,
    claim,
    authority,
    now,
  } = work;
  const keyPem = secrets.open(order.keySealed ?? '', contexts.certificateKey(order.certificateId));
  const pair = readPair({ chainPem, keyPem }, now());
  const missing = order.names.filter((name) => !covers(pair.names, name));
  if (missing.length > 0) throw new ValidationRefusedError(`the certificate does not name ${missing.join(' ')}`);

  await withClient(pool, (client) =>
    inTransaction(client, async () => {
      await inTurn(client, order);
      const { rowCount } = await client.query(
        `UPDATE certificate_orders SET state = 'done', open_for = NULL, ended_at = $3, error = NULL
         WHERE id = $1 AND claimed_by = $2 AND state = 'open'`,
        [order.id, claim, now()],
      );
      if (rowCount !== 1) throw new LeaseLostError();
      await client.query(
        `INSERT INTO certificate_pairs (certificate_id, key_type, chain_pem, key_sealed, fingerprint, issuer, not_before, not_after, ca)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
         ON CONFLICT (certificate_id, key_type) DO UPDATE SET chain_pem = excluded.chain_pem, key_sealed = excluded.key_sealed,
           fingerprint = excluded.fingerprint, issuer = excluded.issuer, not_before = excluded.not_before,
           not_after = excluded.not_after, ca = excluded.ca`,
        [
          order.certificateId,
          pair.keyType,
          pair.chainPem,
          order.keySealed,
          pair.fingerprint,
          pair.issuer,
          pair.notBefore,
          pair.notAfter,
          authority.directory,
        ],
      );
      await client.query(
        `DELETE FROM certificate_pairs p USING certificates c
         WHERE c.id = p.certificate_id AND c.id = $1 AND NOT p.key_type = ANY(c.key_types)`,
        [order.certificateId],
      );
      // A sibling order that failed has set state and retry time, which stay.
      await client.query(
        `UPDATE certificates SET updated_at = $2, ask_at = $4,
           failures = CASE WHEN status = 'fail' THEN failures ELSE 0 END,
           status = CASE WHEN status = 'fail' THEN 'fail'
             WHEN EXISTS (SELECT FROM certificate_orders o WHERE o.certificate_id = $1 AND o.state = 'open') THEN 'processing'
             ELSE 'success' END,
           next_at = least(next_at, $3),
           not_after = (SELECT min(p.not_after) FROM certificate_pairs p WHERE p.certificate_id = $1)
         WHERE id = $1`,
        [order.certificateId, now(), renewAt(pair, Math.random()), new Date(now().getTime() + 6 * 3_600_000)],
      );
      // Ordered for a domain, it replaces the domain's certificate. Otherwise it serves domains without one.
      const { rows } = await client.query<{ name: string }>(
        `UPDATE domains SET certificate_id = $1, cert_status = 'success', updated_at = $5
         WHERE site_id = $2 AND name = ANY($3) AND (certificate_id IS NULL OR $4 AND certificate_id <> $1) RETURNING name`,
        [order.certificateId, order.siteId, order.names, order.takesOver, now()],
      );
      const keys = [certKey(order.certificateId), ...rows.map(({ name }) => hostKey(name))];
      await client.query('INSERT INTO outbox (zone_id, key) SELECT $1, unnest($2::text[])', [order.zoneId, keys]);
      await note(client, work, 'signed', `${pair.issuer} ${pair.notAfter.toISOString()}`);
      await settleJob(client, order, now());
    }),
  );
}

/** Fails permanently, continues at the next authority, or retries shortly. */
async function handleOrderError(work: Work, error: unknown): Promise<void> {
  const { deps, order, authority, now } = work;
  const text = error instanceof Failure ? JSON.stringify(error.particulars.errorData) : wordsOf(error);
  if (error instanceof ValidationRefusedError || error instanceof Failure) {
    await failOrder(work, text, 0);
    return clearChallenges(deps, work);
  }
  if (error instanceof AcmeProblem && error.type === 'accountDoesNotExist') await forgetAccount(deps, authority);
  const retryAfterSeconds = error instanceof AcmeProblem ? error.retryAfterSeconds : 0;
  if (isAuthorityDown(error)) return handleAuthorityDown(work, error, retryAfterSeconds);
  // An order that made more tries than TRIES made them while authorities were down.
  const maxTries = order.tries < TRIES ? TRIES : TRIES_WHILE_DOWN;
  const tries = order.tries + 1;
  const passed = [...order.passed, authority.directory];
  const isLast = deps.env.ACME_AUTHORITIES.every(({ directory }) => passed.includes(directory));
  const isOver = tries >= maxTries || (error instanceof AcmeProblem && anotherMay.includes(error.type));
  if (!isOver) {
    // The order may no longer exist at the authority. Other orders are found again.
    const needsNewOrder = error instanceof UsedUp || (error instanceof AcmeProblem && error.status === 404);
    return setOrder(deps.pool, work, {
      ...(needsNewOrder && withoutPlacement),
      ...retryColumns(work, tries, retryAfterSeconds),
    });
  }
  await clearChallenges(deps, work);
  if (isLast) return failOrder(work, text, retryAfterSeconds);
  await note(deps.pool, work, 'passed', text);
  await setOrder(deps.pool, work, { ...withoutPlacement, passed, tries: 0, due_at: now(), claimed_until: null });
}

const withoutPlacement = { placed_at: null, order_url: null };

/** Another authority gets the order, but this one is not excluded: later it may be the only one that issues it. */
async function handleAuthorityDown(work: Work, error: unknown, retryAfterSeconds: number): Promise<void> {
  const { deps, order, authority, now } = work;
  const tries = order.tries + 1;
  if (tries < TRIES && (await isOnlyLost(error, authority)))
    return setOrder(deps.pool, work, retryColumns(work, tries));
  await noteOutage(deps.pool, authority, now());
  if (tries >= TRIES_WHILE_DOWN) {
    await clearChallenges(deps, work);
    await detachFromAuthority(work, {});
    return failOrder(work, wordsOf(error), retryAfterSeconds);
  }
  const outages = await readOutages(deps.pool, now());
  const isAnotherUp = deps.env.ACME_AUTHORITIES.some(
    ({ directory }) => !order.passed.includes(directory) && !outages.has(directory),
  );
  // A placed order is worth a retry: another authority would validate all names again.
  if (!isAnotherUp || (order.orderUrl !== null && tries < TRIES))
    return setOrder(deps.pool, work, retryColumns(work, tries, retryAfterSeconds));
  await clearChallenges(deps, work);
  await note(deps.pool, work, 'passed', wordsOf(error));
  // The other one may have no capacity, so that this one is asked again.
  await detachFromAuthority(
    work,
    tries > 1 ? retryColumns(work, tries) : { tries, due_at: now(), claimed_until: null },
  );
}

/** Takes the order away from the authority. One that never had it gets its slot back. */
const detachFromAuthority = (work: Work, columns: Partial<ReturnType<typeof retryColumns>>) =>
  withClient(work.deps.pool, (client) =>
    inTransaction(client, async () => {
      if (work.order.orderUrl === null) await returnPlace(client, work);
      await setOrder(client, work, { ...withoutPlacement, ...columns });
    }),
  );

/** After 2, 4, 8 … seconds, or later if the authority requests it. */
const retryColumns = ({ now }: Work, tries: number, retryAfterSeconds = 0) => ({
  tries,
  due_at: new Date(now().getTime() + 1000 * Math.max(2 ** tries, Math.min(retryAfterSeconds, MAX_RETRY_AFTER_SECONDS))),
  claimed_until: null,
});

/** The serving certificate stays unchanged. */
async function failOrder(
  work: Omit<Work, 'authority'> & { authority: Authority | null },
  text: string,
  afterSeconds: number,
): Promise<void> {
  const {
    deps: { pool },
    order,
    claim,
    now,
  } = work;
  await withClient(pool, (client) =>
    inTransaction(client, async () => {
      await inTurn(client, order);
      const { rowCount } = await client.query(
        `UPDATE certificate_orders SET state = 'failed', open_for = NULL, ended_at = $3, error = $4
         WHERE id = $1 AND claimed_by = $2 AND state = 'open'`,
        [order.id, claim, now(), oneLine(text)],
      );
      if (rowCount !== 1) throw new LeaseLostError();
      const { rows } = await client.query<{ failures: number }>(
        // The orders of both key types are one attempt.
        `UPDATE certificates SET status = 'fail', updated_at = $2,
           failures = failures + CASE WHEN status = 'fail' THEN 0 ELSE 1 END
         WHERE id = $1 RETURNING failures`,
        [order.certificateId, now()],
      );
      const next = retryAt(now(), rows[0]?.failures ?? 1, afterSeconds, Math.random());
      await client.query('UPDATE certificates SET next_at = $2 WHERE id = $1', [order.certificateId, next]);
      await client.query(
        `UPDATE domains SET cert_status = 'fail' WHERE site_id = $1 AND name = ANY($2) AND certificate_id IS NULL`,
        [order.siteId, order.names],
      );
      await note(client, work, 'failed', text);
      await settleJob(client, order, now());
    }),
  );
}

/** Serializes orders of one certificate or job, so that the second sees the result of the first. */
async function inTurn(client: Pick<PoolClient, 'query'>, { certificateId, jobId }: OrderRow): Promise<void> {
  await client.query('SELECT FROM certificates WHERE id = $1 FOR UPDATE', [certificateId]);
  await client.query('SELECT FROM jobs WHERE id = $1 FOR UPDATE', [jobId]);
}

const settleJob = (
  client: { query: (text: string, values: unknown[]) => Promise<unknown> },
  { jobId }: OrderRow,
  now: Date,
) =>
  client.query(
    `UPDATE jobs SET ended_at = $2, state =
       CASE WHEN EXISTS (SELECT FROM certificate_orders WHERE job_id = $1 AND state = 'failed') THEN 'failed' ELSE 'completed' END
     WHERE id = $1 AND state = 'processing' AND NOT EXISTS (SELECT FROM certificate_orders WHERE job_id = $1 AND state = 'open')`,
    [jobId, now],
  );

const wordsOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return error.message || ('code' in error ? String(error.code) : error.name);
};
const detailOf = (order: Order): string | null => {
  const { error } = { error: null, ...order };
  return typeof error === 'object' && error !== null && 'detail' in error ? String(Reflect.get(error, 'detail')) : null;
};
