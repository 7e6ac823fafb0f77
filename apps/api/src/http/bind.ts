// Registers a route for each declared endpoint. The steps of every call: authentication, permission, input validation,
// handler, encoding of the response, audit row.
import { Readable } from 'node:stream';
import type pg from 'pg';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import type { Family, Mount } from '@edgeloom/contract/family.ts';
import {
  mounted,
  onlyReads,
  type Endpoint,
  type Group,
  type Reply,
  type Request,
} from '@edgeloom/contract/endpoint.ts';
import { withContext } from '../core/request-context.ts';
import type { Actor } from '../core/actor.ts';
import type { Ctx } from '../core/ctx.ts';
import { fail } from '../core/fail.ts';
import { addressOf } from '../core/address.ts';
import { auditInputOf, auditOf, readActionId, type Line } from './audit.ts';
import { encoder } from './encode.ts';
import { prefersCsv } from './accept.ts';
import { onlyOnce } from './idempotency.ts';
import { inputReader } from './input.ts';
import type { Limits } from './limits.ts';
import { etagOf, hasETag, matchOf } from './preconditions.ts';

export type Handlers<G extends Group> = {
  [Name in keyof G]: (ctx: Ctx, request: Request<G[Name]>) => Promise<Reply<G[Name]>>;
};

type AnyHandler = (ctx: Ctx, request: never) => Promise<unknown>;
type CsvWriters<G extends Group> = {
  [Name in keyof G as G[Name] extends { readonly csv: true } ? Name : never]: (reply: Reply<G[Name]>) => string;
};
export interface Routes {
  group: Group;
  handlers: Record<string, AnyHandler>;
  csv: Record<string, (reply: never) => string>;
}

/** Exactly one handler for each endpoint of the group, and a CSV writer for those with `csv`. */
export const routes = <G extends Group>(
  group: G,
  handlers: Handlers<G>,
  ...[csv]: keyof CsvWriters<G> extends never ? [] : [csv: CsvWriters<G>]
): Routes => ({ group, handlers, csv: csv ?? {} });

export interface Surroundings {
  identify: (request: FastifyRequest) => Promise<Actor>;
  context: (actor: Actor | null, mount: Mount, request: FastifyRequest, reply: FastifyReply) => Ctx;
  /** Awaited before the response is sent, so that the row exists when the caller receives the response. */
  audit: (ctx: Ctx, line: Line) => Promise<void>;
  limits: (endpoint: Endpoint) => Limits;
  /** For the stored responses of calls with an Idempotency-Key. */
  pool: pg.Pool;
  /** Which console families this listener serves: the admin family has its own listener. */
  serves: (family: Family) => boolean;
}

declare module 'fastify' {
  interface FastifyRequest {
    ctx: Ctx | null;
  }
}

export function bind(app: FastifyInstance, modules: readonly Routes[], surroundings: Surroundings) {
  const { identify, context, audit, limits, pool, serves } = surroundings;
  app.decorateRequest('ctx', null);
  const watchers = watching();

  for (const { group, handlers, csv } of modules) {
    // Types ensure this, except for handlers that a function has assembled.
    const astray = Object.keys(handlers).find((name) => !(name in group));
    if (astray) throw new Error(`${astray} is no endpoint of its group`);

    for (const { endpoint, mount, family, method, path } of mounted([group])) {
      const handle = handlers[endpoint.name];
      if (!handle) throw new Error(`${endpoint.feature}.${endpoint.name} has no handler`);
      if (family !== null && !serves(family)) continue;
      const read = inputReader(endpoint);
      const payloadOf = encoding(endpoint);
      const limit = limits(endpoint);
      const once = onlyOnce(pool, endpoint);
      const isVersioned = hasETag(endpoint);
      const writes = !onlyReads(endpoint);

      const work = async (ctx: Ctx, input: unknown, reply: FastifyReply) => {
        // The input was validated against the schema that types the handler; the type is only lost here.
        const result = await handle(ctx, input as never);
        const etag = isVersioned ? etagOf(result) : null;
        if (etag !== null) reply.header('etag', etag);
        return payloadOf(result);
      };

      app.route({
        method,
        url: `/${path}`,
        exposeHeadRoute: false,
        // Before the body is read, so that unauthenticated callers cannot upload.
        onRequest: async (request, reply) => {
          // Rate limit first, before any work and before there is anything to audit.
          await limit.ofAddress(reply, addressOf(request));
          const actor = endpoint.can === 'anyone' ? null : await identify(request);
          // The context is set first, so that rejected calls are audited as well.
          request.ctx = context(actor, mount, request, reply);
          if (!actor) return;
          await limit.ofAccount(reply, actor.id);
          if (writes) request.ctx.caller.actionId = readActionId(request.headers);
          // Calls that serve every family must go to the listener of the account's own.
          if (!serves(actor.kind)) fail('PERMISSION_DENIED');
          admit(endpoint, family, actor);
        },
        handler: async (request, reply) => {
          const ctx = request.ctx as Ctx;
          const input = await read(request);
          const send = (payload: unknown) => reply.type(endpoint.answers ?? 'application/json').send(payload);
          if (endpoint.answers === 'text/event-stream') {
            watchers.letIn(ctx.actor.id, reply);
            // The process is closing: the client must not wait on a kept-alive connection.
            reply.header('connection', 'close');
          }
          const writeCsv = csv[endpoint.name];
          if (writeCsv !== undefined) {
            reply.header('vary', 'accept');
            if (prefersCsv(request.headers.accept))
              return reply.type('text/csv; charset=utf-8').send(writeCsv((await handle(ctx, input as never)) as never));
          }
          if (!writes) return send(await work(ctx, input, reply));
          // Before the call, so that objects that it renames or removes still have their names.
          ctx.caller.auditInput = await auditInputOf(ctx, endpoint, input);
          const call = {
            audit: auditOf(ctx, { method, path: request.url }),
            match: matchOf(endpoint, request.headers['if-match'], input, ctx.actor),
          };
          // Sending is part of the call: its audit row is written when the response is sent.
          return withContext(call, async () =>
            send(await once(ctx, request, reply, input, () => work(ctx, input, reply))),
          );
        },
        ...(writes && {
          onSend: async (request: FastifyRequest, reply: FastifyReply, payload: unknown) => {
            const line = { method, path: request.url, status: reply.statusCode, failure: failureOf(payload) };
            if (request.ctx) await audit(request.ctx, line);
            return payload;
          },
        }),
      });
    }
  }
}

const Failed = z.object({
  isError: z.literal(true),
  code: z.int(),
  extra: z.record(z.string(), z.unknown()),
  errorData: z.array(z.unknown()),
});
const Entry = z.looseObject({ code: z.int() });

/** Failure data in the log: the error code, and the values in its message. */
function failureOf(payload: unknown): Line['failure'] {
  if (typeof payload !== 'string' || !payload.startsWith('{"isError":true')) return undefined;
  const { code: own, extra, errorData } = Failed.parse(JSON.parse(payload));
  // "Multiple Errors" with a single cause has the code of that cause.
  const causes = new Set(errorData.map((entry) => Entry.safeParse(entry).data?.code));
  const code = (causes.size === 1 && [...causes][0]) || own;
  const values = Object.entries(extra).filter(([, value]) => typeof value === 'string' || typeof value === 'number');
  return { code, ...(values.length > 0 && { extra: Object.fromEntries(values) }) };
}

/** Event streams per account. Each polls twice a second. */
const MOST_WATCHED = 30;
function watching() {
  const counts = new Map<string, number>();
  return {
    letIn(accountId: string, reply: FastifyReply) {
      const others = counts.get(accountId) ?? 0;
      if (others >= MOST_WATCHED) fail('RATE_LIMITED', { extra: { retryAfterSeconds: 5 } });
      counts.set(accountId, others + 1);
      reply.raw.once('close', () => {
        const left = (counts.get(accountId) ?? 1) - 1;
        if (left === 0) counts.delete(accountId);
        else counts.set(accountId, left);
      });
    },
  };
}

export function admit({ can, own }: Endpoint, family: Family | null, actor: Actor) {
  if (family !== null && actor.kind !== family) fail('PERMISSION_DENIED');
  if (own && (actor.proxy !== null || actor.apiTokenId !== null)) fail('PERMISSION_DENIED');
  if (can !== 'anyone' && can !== 'signedIn' && !actor.permissions.has(can)) fail('PERMISSION_DENIED');
}

function encoding({ reply: schema, answers = 'application/json' }: Endpoint) {
  const encode = schema ? encoder(schema) : null;
  return (result: unknown): unknown => {
    if (answers === 'application/json') return encode ? JSON.stringify(encode(result)) : '{}';
    if (answers === 'application/gzip') return Readable.from(result as AsyncIterable<Uint8Array>, { highWaterMark: 1 });
    if (answers !== 'text/event-stream') return result;
    // A slow reader holds one event, and the service skips what it cannot keep up with.
    return Readable.from(events(result as AsyncIterable<unknown>, encode), { highWaterMark: 1 });
  };
}

async function* events(source: AsyncIterable<unknown>, encode: ((event: unknown) => unknown) | null) {
  for await (const event of source) yield `data: ${JSON.stringify(encode ? encode(event) : event)}\n\n`;
}
