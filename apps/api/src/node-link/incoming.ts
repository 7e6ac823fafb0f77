// Messages of nodes. The server has checked that a node speaks on its own subjects only, so the id in the subject is who
// it is; whatever the body says of it counts for nothing. A message that is not what it should be is counted, and whoever waits
// for an answer is told so: an agent may be newer than we are.
import type { Refused } from '@edgeloom/contract/edge/messages.ts';
import { anythingOfNodes, everyNode, inboxPrefix, nodeOf } from '@edgeloom/contract/subjects.ts';
import type { Msg } from 'nats';
import { Counter } from 'prom-client';
import * as z from 'zod';
import type { Bus } from '../core/bus.ts';
import { registry } from '../core/metrics.ts';
import { heard } from './heard.ts';
import type { LinkLog } from './log.ts';

/** Processes share the work: each message is handled by one of them. */
const QUEUE = 'control-plane';
/** Of its own: of all that match a subject and share a queue only one is given the message. */
const UNKNOWN_QUEUE = 'control-plane-unknown';

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
    const underWay = busy.get(nodeId) ?? 0;
    if (!NodeId.safeParse(nodeId).success || isAstray(msg) || underWay >= MOST_AT_ONCE) {
      refused.inc({ kind });
      return;
    }
    if (!message.success) {
      refused.inc({ kind });
      refuse(msg, { refused: `this control plane does not understand that ${kind}` });
      return;
    }
    busy.set(nodeId, underWay + 1);
    try {
      const reply = await handle(nodeId, message.data);
      if (reply !== null && msg.reply) msg.respond(JSON.stringify(reply));
    } catch (error) {
      // The node asks again, or says the same with its next heartbeat.
      log.warn({ err: error, subject: msg.subject }, 'a message of a node was lost');
      refuse(msg, { refused: 'the control plane cannot answer just now' });
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

/** What only agents of a later version say. */
export function refuseUnknown(bus: Bus, log: LinkLog): void {
  const known = new Set<string>(Object.values(everyNode).map(nameOf));
  const told = new Set<string>();
  const answer = (msg: Msg) => {
    const name = nameOf(msg.subject);
    if (known.has(name) || isAstray(msg)) return;
    refused.inc({ kind: 'unknown' });
    refuse(msg, { refused: `this control plane knows no ${name}`, unknown: true });
    const nodeId = nodeOf(msg.subject);
    // Once for each node: it may say so with every heartbeat.
    if (told.has(nodeId) || told.size >= MOST_TOLD) return;
    told.add(nodeId);
    log.warn({ node: nodeId, name: clean(name, 100) }, 'a node says what is not known here: is its agent newer?');
  };
  for (const subject of anythingOfNodes) {
    bus.nodes.subscribe(subject, {
      queue: UNKNOWN_QUEUE,
      callback: (error, msg) => (error ? log.warn({ err: error, subject }, 'a subscription failed') : answer(msg)),
    });
  }
}

const MOST_TOLD = 10_000;
const nameOf = (subject: string) => subject.split('.').at(-1) ?? '';

/** A node chooses where its answer goes, and we may publish anywhere: into its own inbox it is. */
const isAstray = ({ subject, reply }: Msg) =>
  reply !== undefined && reply !== '' && !reply.startsWith(`${inboxPrefix(nodeOf(subject))}.`);

function refuse(msg: Msg, answer: Refused) {
  if (msg.reply) msg.respond(JSON.stringify(answer));
}

function read<S extends z.ZodType>(schema: S, msg: Msg) {
  try {
    return { success: true, data: heard(schema, msg) } as const;
  } catch {
    return { success: false } as const;
  }
}

/** Text of a node on its way into a column: PostgreSQL takes neither NUL nor half a surrogate pair, and one bad text
 *  would fail the whole statement. */
export const clean = (text: string, most = 2000): string => text.slice(0, most).toWellFormed().replaceAll('\0', '');
