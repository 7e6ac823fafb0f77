// Idempotency-Key: a POST that is sent again with the same key runs once. The first answer is stored for a day and
// returned again. A failed call changed nothing and frees its key. If the process of a call died, the call runs again
// only if it changed nothing, which the audit triggers record in its own transaction.
import { createHash } from 'node:crypto';
import type pg from 'pg';
import type { FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import { onlyReads, type Endpoint } from '@edgeloom/contract/endpoint.ts';
import type { ErrorRule } from '@edgeloom/contract/errors.ts';
import { NOBODY } from '../core/actor.ts';
import type { Ctx } from '../core/ctx.ts';
import { fail, failAt } from '../core/fail.ts';

const HEADER = 'Idempotency-Key';
const CLAIM = '2 minutes';
const RETENTION = '24 hours';
const KEPT_BYTES = 1_000_000;

/** Requires an account, for which the response is stored, and a single response. */
export const takesKey = (endpoint: Endpoint): boolean => {
  const { method, can, accepts, answers = 'application/json' } = endpoint;
  return method === 'POST' && can !== 'anyone' && !onlyReads(endpoint) && !accepts && answers === 'application/json';
};

/** Responses with such fields contain secrets: they are shown once and never stored. */
const opens = /token|secret|passw|key$|codes$|^v?code$|challenge|^options$|^qr/i;

export function answersSecret(schema: unknown): boolean {
  if (schema instanceof z.ZodObject)
    return Object.entries(schema.shape).some(([name, field]) => opens.test(name) || answersSecret(field));
  if (schema instanceof z.ZodArray) return answersSecret(schema.element);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return answersSecret(schema.unwrap());
  if (schema instanceof z.ZodUnion) return schema.options.some(answersSecret);
  return schema instanceof z.ZodRecord;
}

/** Returns the result of `work`, or its first response. */
export function onlyOnce(pool: pg.Pool, endpoint: Endpoint) {
  const isSecret = answersSecret(endpoint.reply);
  const isMeant = takesKey(endpoint);

  return async <T>(
    ctx: Ctx,
    request: FastifyRequest,
    reply: FastifyReply,
    input: unknown,
    work: () => Promise<T>,
  ): Promise<T | string> => {
    const key = isMeant ? request.headers['idempotency-key'] : undefined;
    if (key === undefined || ctx.actor.id === NOBODY) return work();
    if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key))
      failAt(HEADER, 'format', '1 to 255 visible characters');

    const call = { accountId: ctx.actor.id, keyHash: sha256(String(key)), reqID: ctx.reqID };
    const path = request.url.split('?', 1)[0] ?? '';
    const stored = await claim(pool, { ...call, requestHash: sha256(JSON.stringify([path, input])) });
    if (stored !== null) {
      reply.header('idempotency-replayed', 'true');
      return stored;
    }
    try {
      const answer = await work();
      await keep(
        pool,
        call,
        isSecret || typeof answer !== 'string' || answer.length > KEPT_BYTES ? null : answer,
      ).catch((error: unknown) => ctx.log.error({ err: error }, 'the answer to an Idempotency-Key was not kept'));
      return answer;
    } catch (error) {
      await free(pool, call).catch((failure: unknown) =>
        ctx.log.warn({ err: failure }, 'an Idempotency-Key stays taken'),
      );
      throw error;
    }
  };
}

interface Claimed {
  accountId: string;
  keyHash: string;
  reqID: string;
}
interface Known {
  request_hash: string;
  req_id: string;
  status: number | null;
  answer: string | null;
  seconds: number;
}

const changedNothing = `NOT EXISTS (SELECT 1 FROM audit_changes c WHERE c.req_id = i.req_id)
  AND NOT EXISTS (SELECT 1 FROM audit_rows r WHERE r.req_id = i.req_id AND r.changes <> '[]')`;

/** Null: this call may run. A text: the response of the first call. */
async function claim(pool: pg.Pool, call: Claimed & { requestHash: string }): Promise<string | null> {
  const values = [call.accountId, call.keyHash];
  const { rowCount } = await pool.query(
    `INSERT INTO idempotent_calls AS i (account_id, key_hash, request_hash, req_id, claimed_until)
     VALUES ($1, $2, $3, $4, now() + interval '${CLAIM}')
     ON CONFLICT (account_id, key_hash) DO UPDATE SET request_hash = excluded.request_hash, req_id = excluded.req_id,
       claimed_until = excluded.claimed_until, status = NULL, answer = NULL, created_at = now()
     WHERE i.created_at < now() - interval '${RETENTION}'
        OR (i.status IS NULL AND i.claimed_until < now() AND i.request_hash = excluded.request_hash AND ${changedNothing})`,
    [...values, call.requestHash, call.reqID],
  );
  if (rowCount === 1) return null;
  const { rows } = await pool.query<Known>(
    `SELECT request_hash, req_id, status, answer, ceil(extract(epoch FROM claimed_until - now()))::int AS seconds
     FROM idempotent_calls WHERE account_id = $1 AND key_hash = $2`,
    values,
  );
  const [known] = rows;
  // The key was freed at this moment.
  if (!known) refuse('underWay', { retryAfterSeconds: 1 });
  if (known.request_hash !== call.requestHash) refuse('reused');
  if (known.status === null && known.seconds > 0) refuse('underWay', { retryAfterSeconds: 1 });
  // The call is done but its response is not stored: it contained a secret or was lost. Its audit row has the changes.
  if (known.answer === null) refuse('answered', { reqID: known.req_id });
  return known.answer;
}

function refuse(rule: ErrorRule, extra: Record<string, unknown> = {}): never {
  fail('DUPLICATED', { errorData: [{ path: HEADER, rule }], extra });
}

const keep = (pool: pg.Pool, { accountId, keyHash, reqID }: Claimed, answer: string | null) =>
  pool.query(
    'UPDATE idempotent_calls SET status = 200, answer = $4 WHERE account_id = $1 AND key_hash = $2 AND req_id = $3',
    [accountId, keyHash, reqID, answer],
  );

const free = (pool: pg.Pool, { accountId, keyHash, reqID }: Claimed) =>
  pool.query(
    `DELETE FROM idempotent_calls i WHERE account_id = $1 AND key_hash = $2 AND req_id = $3 AND ${changedNothing}`,
    [accountId, keyHash, reqID],
  );

export const sweepKeys = async (pool: pg.Pool): Promise<void> => {
  await pool.query(`DELETE FROM idempotent_calls WHERE created_at < now() - interval '${RETENTION}'`);
};

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
