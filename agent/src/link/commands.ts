// The commands that a node accepts. Repeating one is harmless. One past its deadline is not started.
import {
  ClearCommand,
  GaugesCommand,
  Command,
  HeldPortsCommand,
  MoveCommand,
  PreheatCommand,
  PurgeOrder,
  WarmCommand,
} from '@edgeloom/contract/edge/messages.ts';
import type { ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import type { CommandReply, NodeFigures, NodeGauges, RunningTree, Warmed } from '@edgeloom/contract/edge/messages.ts';
import { RemovePackCommand, UpgradeCommand } from '@edgeloom/contract/edge/releases.ts';
import { SimulateCommand } from '@edgeloom/contract/edge/simulated.ts';
import type { Simulated, SimulatedRequest } from '@edgeloom/contract/edge/simulated.ts';
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
  /** Accepts the order. Reports tell its outcome. */
  upgrade: (command: UpgradeCommand) => Promise<void>;
  removePack: (command: RemovePackCommand) => Promise<void>;
  /** Simulates a request. */
  simulate: (request: SimulatedRequest, withinMs: number) => Promise<Simulated>;
}

type Reply = Partial<
  Pick<CommandReply, 'objects' | 'error' | 'figures' | 'running' | 'gauges' | 'simulated' | 'warmed' | 'held'>
> | void;
type Work = (message: unknown, hands: CommandHandlers, leftMs: number) => Promise<Reply>;

const works: Readonly<Record<string, Work>> = {
  purge: async (message, hands, left) => {
    return { objects: await hands.purge(PurgeOrder.parse(message), left) };
  },
  preheat: async (message, hands, left) => {
    const { fetched, error } = await hands.preheat(PreheatCommand.parse(message).urls, left);
    return { objects: fetched, error };
  },
  warm: async (message, hands, left) => ({ warmed: await hands.warm(WarmCommand.parse(message).urls, left) }),
  heldPorts: async (message, hands) => ({ held: await hands.heldPorts(HeldPortsCommand.parse(message).ports) }),
  resync: (_, hands, left) => within(left, hands.resync()),
  zoneKeys: (_, hands, left) => within(left, hands.zoneKeys()),
  reset: (_, hands, left) => within(left, hands.reset()),
  clearCache: (message, hands, left) => hands.clearCache(ClearCommand.parse(message).tags ?? null, left),
  rotateLogs: (_, hands) => hands.rotateLogs(),
  reboot: (_, hands) => hands.reboot(),
  system: async (_, hands) => ({ figures: await hands.system() }),
  running: async (_, hands) => ({ running: await hands.running() }),
  gauges: async (message, hands) => ({ gauges: await hands.gauges(GaugesCommand.parse(message).slowMs) }),
  upgrade: (message, hands) => hands.upgrade(UpgradeCommand.parse(message)),
  removePack: (message, hands) => hands.removePack(RemovePackCommand.parse(message)),
  move: (message, hands) => hands.move(MoveCommand.parse(message)),
  simulate: async (message, hands, left) => ({
    simulated: await hands.simulate(SimulateCommand.parse(message).request, left),
  }),
};

export async function runCommand(name: string, message: unknown, hands: CommandHandlers): Promise<CommandReply> {
  const startedAt = performance.now();
  const { id, deadline } = Command.parse(message);
  const reply = (said: Reply): CommandReply => {
    const { objects = 0, error = null, ...more } = said ?? {};
    return { id, ok: error === null, error, tookMs: performance.now() - startedAt, objects, ...more };
  };
  const work = Object.hasOwn(works, name) ? works[name] : undefined;
  if (work === undefined)
    return { ...reply({ error: `agent ${version} does not know the command ${name}` }), unknown: true };
  const left = Date.parse(deadline) - Date.now();
  if (left <= 0) return { ...reply({ error: 'the deadline has passed' }), late: true };
  try {
    return reply(await work(message, hands, left));
  } catch (error) {
    return reply({ error: reason(error) });
  }
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    // setTimeout is limited to 31 bits.
    timer = setTimeout(() => reject(new Error('not done by the deadline')), Math.min(ms, 2 ** 31 - 1));
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
