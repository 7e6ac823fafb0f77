// The commands that a node accepts. Repeating one is harmless. One past its deadline is not started.
import {
  ClearCommand,
  GaugesCommand,
  Command,
  HeldPortsCommand,
  MoveCommand,
  PreheatCommand,
  PurgeOrder,
} from '@edgeloom/contract/edge/messages.ts';
import type { ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import type { CommandReply, NodeFigures, NodeGauges, RunningTree, Warmed } from '@edgeloom/contract/edge/messages.ts';
import { RemovePackCommand, UpgradeCommand } from '@edgeloom/contract/edge/releases.ts';
import { ReplayCommand, SimulateCommand } from '@edgeloom/contract/edge/simulated.ts';
import type { Replayed, Simulated, SimulatedRequest } from '@edgeloom/contract/edge/simulated.ts';
import { reason } from '../log.ts';
import { version } from '../version.ts';

export interface CommandHandlers {
  /** Returns the number of stored objects that became unreachable. */
  purge: (order: PurgeOrder, withinMs: number) => Promise<number>;
  /** Returns how many URLs were stored, and the error of the others. */
  preheat: (urls: readonly string[], withinMs: number) => Promise<{ fetched: number; error: string | null }>;
  /** Returns for each URL whether it is stored now. */
  warm: (urls: readonly string[], withinMs: number) => Promise<Warmed[]>;
  /** The ports among these that the node could not open. */
  heldPorts: (ports: ZoneDoc['ports']) => Promise<number[]>;
  resync: () => Promise<void>;
  /** Requests the zone's keys. */
  zoneKeys: () => Promise<void>;
  /** Drops and downloads the configuration again. The old one serves until then. */
  reset: () => Promise<void>;
  /** Clears the objects with these tags on all sites. Null: everything. */
  clearCache: (tags: readonly string[] | null, withinMs: number) => Promise<void>;
  rotateLogs: () => Promise<void>;
  /** Reboots shortly after responding. */
  reboot: () => Promise<void>;
  system: () => Promise<NodeFigures>;
  running: () => Promise<RunningTree>;
  move: (to: { control: string; token: string }) => Promise<void>;
  gauges: (slowMs?: number) => Promise<NodeGauges>;
  /** Accepts the order. Its outcome is reported separately. */
  upgrade: (command: UpgradeCommand) => Promise<void>;
  removePack: (command: RemovePackCommand) => Promise<void>;
  /** Simulates a request. */
  simulate: (request: SimulatedRequest, withinMs: number) => Promise<Simulated>;
  /** Simulates logged requests with changed documents. Null for one that failed. */
  replay: (replay: Pick<ReplayCommand, 'requests' | 'docs'>, withinMs: number) => Promise<(Replayed | null)[]>;
}

type Reply = Partial<
  Pick<
    CommandReply,
    'objects' | 'error' | 'figures' | 'running' | 'gauges' | 'simulated' | 'replayed' | 'warmed' | 'held'
  >
> | void;
type Work = (message: unknown, handlers: CommandHandlers, leftMs: number) => Promise<Reply>;

const works: Readonly<Record<string, Work>> = {
  purge: async (message, handlers, left) => {
    return { objects: await handlers.purge(PurgeOrder.parse(message), left) };
  },
  preheat: async (message, handlers, left) => {
    const { fetched, error } = await handlers.preheat(PreheatCommand.parse(message).urls, left);
    return { objects: fetched, error };
  },
  warm: async (message, handlers, left) => ({ warmed: await handlers.warm(PreheatCommand.parse(message).urls, left) }),
  heldPorts: async (message, handlers) => ({ held: await handlers.heldPorts(HeldPortsCommand.parse(message).ports) }),
  resync: (_, handlers, left) => within(left, handlers.resync()),
  zoneKeys: (_, handlers, left) => within(left, handlers.zoneKeys()),
  reset: (_, handlers, left) => within(left, handlers.reset()),
  clearCache: (message, handlers, left) => handlers.clearCache(ClearCommand.parse(message).tags ?? null, left),
  rotateLogs: (_, handlers) => handlers.rotateLogs(),
  reboot: (_, handlers) => handlers.reboot(),
  system: async (_, handlers) => ({ figures: await handlers.system() }),
  running: async (_, handlers) => ({ running: await handlers.running() }),
  gauges: async (message, handlers) => ({ gauges: await handlers.gauges(GaugesCommand.parse(message).slowMs) }),
  upgrade: (message, handlers) => handlers.upgrade(UpgradeCommand.parse(message)),
  removePack: (message, handlers) => handlers.removePack(RemovePackCommand.parse(message)),
  move: (message, handlers) => handlers.move(MoveCommand.parse(message)),
  simulate: async (message, handlers, left) => ({
    simulated: await handlers.simulate(SimulateCommand.parse(message).request, left),
  }),
  replay: async (message, handlers, left) => ({ replayed: await handlers.replay(ReplayCommand.parse(message), left) }),
};

export async function runCommand(name: string, message: unknown, handlers: CommandHandlers): Promise<CommandReply> {
  const startedAt = performance.now();
  const { id, deadline } = Command.parse(message);
  const reply = (result: Reply): CommandReply => {
    const { objects = 0, error = null, ...more } = result ?? {};
    return { id, ok: error === null, error, tookMs: performance.now() - startedAt, objects, ...more };
  };
  const work = Object.hasOwn(works, name) ? works[name] : undefined;
  if (work === undefined)
    return { ...reply({ error: `agent ${version} does not know the command ${name}` }), unknown: true };
  const left = Date.parse(deadline) - Date.now();
  if (left <= 0) return { ...reply({ error: 'the deadline has passed' }), late: true };
  try {
    return reply(await work(message, handlers, left));
  } catch (error) {
    return reply({ error: reason(error) });
  }
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    // setTimeout is limited to 31 bits.
    timer = setTimeout(() => reject(new Error('not finished by the deadline')), Math.min(ms, 2 ** 31 - 1));
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
