// The node's line to the control plane. It is down more often than anything else and nothing here takes that for an end.
import { DocEntry, DocPush, HeartbeatReply, SyncReply } from '@edgeloom/contract/edge/messages.ts';
import type { Heartbeat } from '@edgeloom/contract/edge/messages.ts';
import { inboxPrefix, subjects } from '@edgeloom/contract/subjects.ts';
import { connect, Events, jwtAuthenticator } from 'nats';
import type { Msg, NatsConnection } from 'nats';
import * as z from 'zod';
import type { Log } from '../log.ts';
import { obey } from './commands.ts';
import type { CommandName, Hands } from './commands.ts';
import { Follower } from './follower.ts';
import type { Target } from './follower.ts';
import type { Identity } from './identity.ts';

const SYNC_WITHIN_MS = 30_000;
const HEARTBEAT_EVERY_MS = 30_000;
/** After an answer that differs: soon enough to repair, late enough for what is on its way to arrive. */
const HEARTBEAT_AGAIN_MS = 1000;
const HEARTBEAT_WITHIN_MS = 5000;
const CONNECT_AGAIN_MS = 1000;

export interface Node extends Target {
  identity: Identity;
  hands: Pick<Hands, 'purge'>;
  /** All but revision and digest, which the line adds. */
  health: () => Omit<Heartbeat, 'revision'>;
  /** A moment for chores, before each heartbeat. Answers from which revision documents were lost, if any. */
  chores?: () => Promise<number | null>;
}

export interface Link {
  follower: Follower;
  stop: () => Promise<void>;
}

/** Resolves at once; it connects when it can and goes on for ever. */
export function startLink(node: Node, log: Log): Link {
  let line: NatsConnection | null = null;
  let stopped = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let endPause: () => void = () => undefined;
  const { nodeID, zoneID, natsServers, jwt, seed } = node.identity;

  const open = () => {
    if (line === null) throw new Error('not connected');
    return line;
  };
  const follower = new Follower(
    node,
    {
      sync: async (request) => {
        const answer = await open().request(subjects.sync(nodeID), JSON.stringify(request), {
          timeout: SYNC_WITHIN_MS,
        });
        return readSync(answer.json());
      },
      // Lost with the connection, it is made good by the next heartbeat.
      ack: (ack) => line?.publish(subjects.ack(nodeID), JSON.stringify(ack)),
    },
    log,
  );

  const hear = (subject: string, name: string, task: (message: Msg) => void | Promise<void>) => {
    const heard = async (message: Msg) => {
      try {
        await task(message);
      } catch (error) {
        log.warn('a message could not be used', { name, error });
      }
    };
    open().subscribe(subject, { callback: (error, message) => void (error === null && heard(message)) });
  };

  const subscribe = () => {
    hear(subjects.zoneDocs(zoneID), 'doc', (message) => {
      const push = readPush(message);
      // What cannot be read was damaged on its way.
      if (push === null) follower.ask(node.revision);
      else if (push.zone === zoneID) follower.push(push);
    });
    const hands: Hands = { ...node.hands, resync: () => follower.resync() };
    for (const name of ['purge', 'resync'] satisfies CommandName[]) {
      hear(subjects.command(nodeID, name), name, async (message) => {
        const reply = await obey(name, message.json(), hands);
        message.respond(JSON.stringify(reply));
      });
    }
  };

  const heartbeat = async () => {
    const lostFrom = await node.chores?.();
    if (typeof lostFrom === 'number') follower.ask(lostFrom);
    const compared = { revision: node.revision, digest: node.digest };
    const message: Heartbeat = { ...node.health(), revision: node.revision };
    const answer = await open().request(subjects.heartbeat(nodeID), JSON.stringify(message), {
      timeout: HEARTBEAT_WITHIN_MS,
    });
    follower.compare(compared, HeartbeatReply.parse(answer.json()));
  };
  const beat = (afterMs: number) => {
    clearTimeout(timer);
    if (stopped) return;
    timer = setTimeout(() => {
      heartbeat()
        .catch((error: unknown) => log.warn('no answer to a heartbeat', { error }))
        .finally(() => {
          if (line !== null)
            beat(follower.differs ? HEARTBEAT_AGAIN_MS : HEARTBEAT_EVERY_MS * (0.9 + Math.random() * 0.2));
        });
    }, afterMs);
  };
  const up = () => {
    log.info('connected to the control plane', { server: line?.getServer() });
    follower.connected();
    beat(0);
  };
  const down = () => {
    clearTimeout(timer);
    follower.disconnected();
  };

  const live = async () => {
    while (!stopped) {
      try {
        line = await connect({
          servers: natsServers,
          authenticator: jwtAuthenticator(jwt, seed),
          name: `node ${nodeID}`,
          inboxPrefix: inboxPrefix(nodeID),
          maxReconnectAttempts: -1,
          // Who is revoked may be let in again; and the servers may be in the middle of being set up.
          ignoreAuthErrorAbort: true,
          reconnectTimeWait: 250,
          reconnectJitter: 1000,
          reconnectJitterTLS: 1000,
          pingInterval: 10_000,
          maxPingOut: 2,
        });
        if (stopped) break;
        subscribe();
        up();
        for await (const status of line.status()) {
          if (status.type === Events.Reconnect) up();
          if (status.type === Events.Disconnect) {
            down();
            log.warn('lost the control plane');
          }
        }
      } catch (error) {
        log.warn('cannot connect to the control plane', { error });
      }
      down();
      line = null;
      if (!stopped) await pause(CONNECT_AGAIN_MS * (0.5 + Math.random()));
    }
  };
  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const due = setTimeout(resolve, ms);
      endPause = () => {
        clearTimeout(due);
        resolve();
      };
    });
  const living = live();

  return {
    follower,
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      endPause();
      await follower.stop();
      // Without the flush the last ack would be lost; with a server that is away it must not hold us.
      await Promise.race([line?.drain().catch(() => undefined), new Promise((resolve) => setTimeout(resolve, 1000))]);
      await line?.close();
      await living;
    },
  };
}

const LooseSync = SyncReply.extend({ docs: z.array(z.unknown()) });
const Named = z.object({ key: z.string().max(300), revision: z.int().min(0) });

function readPush(message: Msg): DocPush | null {
  try {
    return DocPush.parse(message.json());
  } catch {
    return null;
  }
}

/** One entry that cannot be read must not keep the others away: it goes on as one whose hash is wrong, to be refused by
 *  name. */
function readSync(message: unknown): SyncReply {
  const page = LooseSync.parse(message);
  return { ...page, docs: page.docs.flatMap((entry) => DocEntry.safeParse(entry).data ?? refusable(entry)) };
}

function refusable(entry: unknown): DocEntry[] {
  const named = Named.safeParse(entry);
  return named.success ? [{ ...named.data, sha256: '0'.repeat(64), body: '' }] : [];
}
