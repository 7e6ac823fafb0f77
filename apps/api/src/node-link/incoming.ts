// Messages of nodes. The server has checked that a node speaks on its own subjects only, so the id in the subject is who
// it is; whatever the body says of it counts for nothing. A message that is not what it should be is dropped and counted.
import { inboxPrefix, nodeOf } from '@edgeloom/contract/subjects.ts';
import type { Msg } from 'nats';
import { Counter } from 'prom-client';
import * as z from 'zod';
import type { Bus } from '../core/bus.ts';
import { registry } from '../core/metrics.ts';
import type { LinkLog } from './log.ts';

/** Processes share the work: each message is handled by one of them. */
const QUEUE = 'control-plane';

const refused = new Counter({
  name: 'edgeloom_api_node_messages_refused_total',
  help: 'Messages of nodes that were not what their subject asks for',
  labelNames: ['kind'],
  registers: [registry],
});

export interface Incoming<S extends z.ZodType> {
  /** `up.*.ack`: the second part is the node. */
  subject: string;
  schema: S;
  /** What it answers is sent back where the node asked for an answer. */
  handle: (nodeId: string, message: z.output<S>) => Promise<object | null>;
}

const NodeId = z.uuid();

/** Of one node, being worked on. Past that its messages are dropped, as those of one that says no less for saying more
 *  slowly: it cannot fill our memory. */
const MOST_AT_ONCE = 100;

export function receive<S extends z.ZodType>(bus: Bus, log: LinkLog, { subject, schema, handle }: Incoming<S>): void {
  const kind = subject.split('.').at(-1) ?? subject;
  const busy = new Map<string, number>();
  const answer = async (msg: Msg) => {
    const nodeId = nodeOf(msg.subject);
    const message = read(schema, msg);
    // A node chooses where its answer goes, and we may publish anywhere: into its own inbox it is.
    const astray = msg.reply !== undefined && msg.reply !== '' && !msg.reply.startsWith(`${inboxPrefix(nodeId)}.`);
    const underWay = busy.get(nodeId) ?? 0;
    if (!NodeId.safeParse(nodeId).success || !message.success || astray || underWay >= MOST_AT_ONCE) {
      refused.inc({ kind });
      return;
    }
    busy.set(nodeId, underWay + 1);
    try {
      const reply = await handle(nodeId, message.data);
      if (reply !== null && msg.reply) msg.respond(JSON.stringify(reply));
    } catch (error) {
      // The node asks again, or says the same with its next heartbeat.
      log.warn({ err: error, subject: msg.subject }, 'a message of a node was lost');
    } finally {
      const left = (busy.get(nodeId) ?? 1) - 1;
      if (left === 0) busy.delete(nodeId);
      else busy.set(nodeId, left);
    }
  };
  bus.nodes.subscribe(subject, {
    queue: QUEUE,
    callback: (error, msg) => void (error ? log.warn({ err: error, subject }, 'a subscription failed') : answer(msg)),
  });
}

function read<S extends z.ZodType>(schema: S, msg: Msg) {
  try {
    return schema.safeParse(JSON.parse(msg.string()));
  } catch {
    return { success: false } as const;
  }
}

/** Text of a node on its way into a column: PostgreSQL takes neither NUL nor half a surrogate pair, and one bad text
 *  would fail the whole statement. */
export const clean = (text: string, most = 2000): string => text.slice(0, most).toWellFormed().replaceAll('\0', '');
