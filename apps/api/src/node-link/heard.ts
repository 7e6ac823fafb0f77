// What a node said, as its schema has it. A schema tells of each value that is wrong; of a message with millions of them that would
// take more memory than this process has, so such a one is not looked into.
import type { Msg } from 'nats';
import type * as z from 'zod';

/** Ten times what any message has. */
const MOST_VALUES = 50_000;

/** Throws where it is none. */
export function heard<S extends z.ZodType>(schema: S, message: Pick<Msg, 'string'>): z.output<S> {
  const said: unknown = JSON.parse(message.string());
  if (!isModest(said)) throw new Error('a message of too many values');
  return schema.parse(said);
}

function isModest(said: unknown): boolean {
  const open = [said];
  let seen = 0;
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    if (typeof one !== 'object' || one === null) continue;
    const parts: unknown[] = Array.isArray(one) ? one : Object.values(one);
    seen += parts.length;
    if (seen > MOST_VALUES) return false;
    open.push(...parts);
  }
  return true;
}
