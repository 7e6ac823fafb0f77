// ETag and If-Match. An object that a form edits has `updatedAt`, which grows with each change and is its ETag. A PUT
// may require it; the database checks it in the changing statement (stamp_update() in the migration audit_limits), so
// no change can come in between.
import * as z from 'zod';
import { paramNames, type Endpoint } from '@edgeloom/contract/endpoint.ts';
import type { Actor } from '../core/actor.ts';

/**
 * Whether a call returns an object that is shown and edited as a whole; a PUT may also take it as the one entry of a
 * list.
 */
export const hasETag = ({ method, reply }: Pick<Endpoint, 'method' | 'reply'>): boolean => {
  const shown = reply instanceof z.ZodNullable ? reply.unwrap() : reply;
  if (method === 'GET') return carriesTime(shown);
  return method === 'PUT' && (carriesTime(shown) || carriesTime(elementOf(shown)));
};
const carriesTime = (schema: unknown) => schema instanceof z.ZodObject && 'updatedAt' in schema.shape;
function elementOf(schema: unknown): unknown {
  const list: unknown = schema instanceof z.ZodObject ? schema.shape['data'] : undefined;
  return list instanceof z.ZodArray ? list.element : undefined;
}

const Answer = z.object({ updatedAt: z.date() });
const AnswerOfOne = z.object({ data: z.tuple([Answer]) });
export function etagOf(answer: unknown): string | null {
  const at = Answer.safeParse(answer).data?.updatedAt ?? AnswerOfOne.safeParse(answer).data?.data[0].updatedAt;
  return at ? `"${at.toISOString()}"` : null;
}

const Target = z.object({ params: z.record(z.string(), z.unknown()), body: z.unknown() });
const Named = z.object({ id: z.uuid() });
const NamesOne = z.record(z.string(), z.tuple([Named]));

/** The If-Match condition for the database. Empty without one. */
export function matchOf(endpoint: Endpoint, header: string | undefined, input: unknown, actor: Actor): string {
  if (header === undefined || header.trim() === '*' || endpoint.method !== 'PUT' || !hasETag(endpoint)) return '';
  // Weak ETags never match (RFC 9110).
  const tags = [...header.matchAll(/(W\/)?"([^"]*)"/g)].filter(([, weak]) => !weak).map(([, , tag = '']) => tag);
  const { params, body } = Target.parse(input);
  const named = Named.safeParse(body).data ?? Object.values(NamesOne.safeParse(body).data ?? {})[0]?.[0];
  const last = params[paramNames(endpoint.path).at(-1) ?? ''];
  // A call without an id concerns the caller's own account, or a setting of its operator.
  const ids = named ? [named.id] : last === undefined ? [actor.id, actor.clientId] : [last];
  return JSON.stringify({ ids, tags });
}
