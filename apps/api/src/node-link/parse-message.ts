// Parses a node's message by its schema. Errors of millions of values would exhaust memory, so very large messages are
// refused unread.
import type { Msg } from 'nats';
import type * as z from 'zod';

/** Ten times the largest valid message. */
const MAX_VALUES = 50_000;

/** Throws for an invalid message. */
export function parseMessage<S extends z.ZodType>(schema: S, message: Pick<Msg, 'string'>): z.output<S> {
  const value: unknown = JSON.parse(message.string());
  if (!isModest(value)) throw new Error('a message of too many values');
  return schema.parse(value);
}

function isModest(value: unknown): boolean {
  const open = [value];
  let seen = 0;
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    if (typeof one !== 'object' || one === null) continue;
    const parts: unknown[] = Array.isArray(one) ? one : Object.values(one);
    seen += parts.length;
    if (seen > MAX_VALUES) return false;
    open.push(...parts);
  }
  return true;
}
