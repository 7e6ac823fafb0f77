// Messages from nodes. NATS restricts each node to its own subjects, so the id in the subject is authentic and ids in
// the body are ignored. Invalid messages are counted and refused, since an agent may be newer.
import type { Refused } from '@edgeloom/contract/edge/messages.ts';
import { anythingOfNodes, everyNode, inboxPrefix, nodeOf } from '@edgeloom/contract/subjects.ts';
import type { Msg } from 'nats';
import { Counter } from 'prom-client';
import * as z from 'zod';
import type { Bus } from '../core/bus.ts';
import { registry } from '../core/metrics.ts';
import { parseMessage } from './parse-message.ts';
import type { LinkLog } from './log.ts';

/** Processes share the work: one of them handles each message. */
const QUEUE = 'control-plane';
/** A separate queue: NATS delivers a message once per queue, whatever subjects match. */
const UNKNOWN_QUEUE = 'control-plane-unknown';

const refused = new Counter({
  name: 'edgeloom_api_node_messages_refused_total',
  help: 'Messages of nodes that were not what their subject asks for',
  labelNames: ['kind'],
  registers: [registry],
});

export interface Incoming<S extends z.ZodType> {
  /** `up.*.ack`: the second part is the node's id. */
  subject: string;
  schema: S;
  /** The result is sent as the reply, if requested. */
  handle: (nodeId: string, message: z.output<S>) => Promise<object | null>;
}

const NodeId = z.uuid();

/**
 * Limits a node's messages in progress. More are dropped, so that a node cannot exhaust memory. They repeat older
 * reports anyway.
 */
const MAX_IN_PROGRESS = 100;

export function receive<S extends z.ZodType>(bus: Bus, log: LinkLog, { subject, schema, handle }: Incoming<S>): void {
  const kind = subject.split('.').at(-1) ?? subject;
  const busy = new Map<string, number>();
  const refusal = async (msg: Msg) => {
    const nodeId = nodeOf(msg.subject);
    const message = read(schema, msg);
    const inProgress = busy.get(nodeId) ?? 0;
    if (!NodeId.safeParse(nodeId).success || isAstray(msg) || inProgress >= MAX_IN_PROGRESS) {
      refused.inc({ kind });
      return;
    }
    if (!message.success) {
      refused.inc({ kind });
      refuse(msg, { refused: `this control plane does not understand that ${kind}` });
      return;
    }
    busy.set(nodeId, inProgress + 1);
    try {
      const reply = await handle(nodeId, message.data);
      if (reply !== null && msg.reply) msg.respond(JSON.stringify(reply));
    } catch (error) {
      // The node repeats the request, or its next heartbeat repeats the report.
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
    callback: (error, msg) => void (error ? log.warn({ err: error, subject }, 'a subscription failed') : refusal(msg)),
  });
}

/** Replies to messages that only later agents send. */
export function refuseUnknown(bus: Bus, log: LinkLog): void {
  const known = new Set<string>(Object.values(everyNode).map(nameOf));
  const logged = new Set<string>();
  const refusal = (msg: Msg) => {
    const name = nameOf(msg.subject);
    if (known.has(name) || isAstray(msg)) return;
    refused.inc({ kind: 'unknown' });
    refuse(msg, { refused: `this control plane knows no ${name}`, unknown: true });
    const nodeId = nodeOf(msg.subject);
    // Once per node, since each heartbeat may repeat it.
    if (logged.has(nodeId) || logged.size >= MAX_LOGGED) return;
    logged.add(nodeId);
    log.warn({ node: nodeId, name: clean(name, 100) }, 'a node sent an unknown message: is its agent newer?');
  };
  for (const subject of anythingOfNodes) {
    bus.nodes.subscribe(subject, {
      queue: UNKNOWN_QUEUE,
      callback: (error, msg) => (error ? log.warn({ err: error, subject }, 'a subscription failed') : refusal(msg)),
    });
  }
}

const MAX_LOGGED = 10_000;
const nameOf = (subject: string) => subject.split('.').at(-1) ?? '';

/** The node chooses the reply subject and we may publish anywhere, so only its own inbox is accepted. */
const isAstray = ({ subject, reply }: Msg) =>
  reply !== undefined && reply !== '' && !reply.startsWith(`${inboxPrefix(nodeOf(subject))}.`);

function refuse(msg: Msg, refusal: Refused) {
  if (msg.reply) msg.respond(JSON.stringify(refusal));
}

function read<S extends z.ZodType>(schema: S, msg: Msg) {
  try {
    return { success: true, data: parseMessage(schema, msg) } as const;
  } catch {
    return { success: false } as const;
  }
}

/**
 * Text from a node for a column. PostgreSQL refuses NUL and lone surrogates, and one bad text would fail the whole
 * statement.
 */
export const clean = (text: string, most = 2000): string => text.slice(0, most).toWellFormed().replaceAll('\0', '');
