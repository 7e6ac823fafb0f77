// Carries out the commands of the control plane.
import type { NodeLoad } from '@edgeloom/contract/edge/messages.ts';
import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { sha256 } from '@edgeloom/contract/edge/digest.ts';
import type { EdgeNode } from './edge-node.ts';
import type { Forwards } from './forwards/forwards.ts';
import type { Layout } from './layout.ts';
import type { CommandHandlers } from './link/commands.ts';
import type { LinkedNode } from './link/nats.ts';
import { preheat, keepCached } from './link/preheat.ts';
import type { Log } from './log.ts';
import { causes } from './machine/firewall/driver.ts';
import type { Counted } from './machine/firewall/driver.ts';
import { TrafficMetricsReader } from './machine/traffic-metrics.ts';
import { hostsOf } from './store/hosts.ts';
import { readZoneKeys } from './store/zone-keys.ts';
import { rotateLogs } from './machine/log-rotation.ts';
import type { Meter } from './machine/meter.ts';
import { createReplays } from './nginx/replay.ts';
import { simulate } from './nginx/simulate.ts';
import { assertMayReboot, reboot } from './machine/programs.ts';

interface Deps {
  node: EdgeNode;
  forwards: Pick<Forwards, 'reopenLogs'>;
  layout: Layout;
  /** Where this machine reaches its own nginx. */
  address: string;
  meter: Meter;
  refresh: () => Promise<void>;
  move: CommandHandlers['move'];
  upgrade: CommandHandlers['upgrade'];
  removePack: CommandHandlers['removePack'];
  /** Packets dropped by the kernel. Null where the kernel drops nothing for us. */
  dropped: () => Promise<Counted | null>;
  logs: () => Promise<NonNullable<NodeLoad['logs']>>;
  log: Log;
}

/** Time for the response to leave and for the command to be retried without a second reboot. */
const REBOOT_AFTER_MS = 1000;
const REBOOT_RETRY_MS = 60_000;

export function createCommandHandlers({
  node,
  forwards,
  layout,
  address,
  meter,
  refresh,
  move,
  upgrade,
  removePack,
  dropped,
  logs,
  log,
}: Deps): LinkedNode['commandHandlers'] {
  const visitors = new TrafficMetricsReader(path.join(layout.logs, 'access.json'), hostsOf(node.store));
  let rebootedAt = Number.NEGATIVE_INFINITY;

  const clearCache = async (tags: readonly string[] | null, withinMs: number) => {
    const sites = [...node.store.keys()].flatMap((key) => (key.startsWith('site/') ? [key.slice(5)] : []));
    // First no request is answered from them any more. Disk space can be freed later.
    for (const site of sites)
      await node.admin.purge(tags === null ? { site, prefixes: [''] } : { site, tags: [...tags] }, withinMs);
    if (tags === null) await removeObjects(path.join(layout.cache, 'objects'));
  };

  const replay = createReplays(node.admin, layout.simulateSocket);

  const zoneKey = async () => {
    const [current] = await readZoneKeys(layout.keys);
    if (current === undefined) throw new Error('the node has no zone key');
    return current.key;
  };

  const ownNginx = () => ({ address, proxyProtocolPorts: node.proxyProtocolPorts });

  return {
    purge: (order, withinMs) => node.admin.purge(order, withinMs),
    preheat: async (urls, withinMs) => preheat(ownNginx(), urls, withinMs, await zoneKey()),
    warm: async (urls, withinMs) => keepCached(ownNginx(), urls, withinMs, await zoneKey()),
    heldPorts: (ports) => node.heldPorts(ports),
    async reset(fetchAll) {
      // Files stay until others replace them, and nginx keeps serving them.
      await node.inTurn(() => node.store.drop([...node.store.keys()]));
      await fetchAll();
      await refresh();
      await clearCache(null, RESET_PURGE_MS);
    },
    clearCache,
    rotateLogs: () => rotate(node, forwards, layout),
    async reboot() {
      assertMayReboot();
      if (performance.now() - rebootedAt < REBOOT_RETRY_MS) return;
      rebootedAt = performance.now();
      log.warn('the machine reboots on an order of the control plane');
      setTimeout(() => {
        reboot().catch((error: unknown) => {
          rebootedAt = Number.NEGATIVE_INFINITY;
          log.error('the machine was not rebooted', { error });
        });
      }, REBOOT_AFTER_MS);
    },
    simulate: async (request, withinMs) => ({
      revision: node.store.revision,
      ...(await simulate(node.admin, layout.simulateSocket, request, withinMs)),
    }),
    replay,
    system: async () => {
      const { waitingBytes, droppedLines } = await logs();
      return { ...(await meter.figures()), logs: { waitingBytes, droppedLines } };
    },
    async running() {
      const { generation, tree } = await node.tree();
      const files = Array.from(tree, ([name, content]) => ({
        path: name,
        bytes: Buffer.byteLength(content),
        sha256: sha256(content),
      }));
      return { generation, documents: node.store.size, files: files.sort((a, b) => (a.path < b.path ? -1 : 1)) };
    },
    async gauges(slowMs) {
      const [read, drops] = await Promise.all([visitors.read(Date.now(), slowMs), dropped().catch(() => null)]);
      const packets = causes.reduce((sum, cause) => sum + (drops?.[cause].packets ?? 0), 0);
      const at = new Date().toISOString();
      return {
        at,
        ...read,
        dropped: packets,
        nginx: node.state === 'unresponsive' ? 'stopped' : node.state,
        error: node.error,
      };
    },
    upgrade,
    removePack,
    move,
  };
}

const RESET_PURGE_MS = 30_000;

/** Waits for a structural change in progress, which reads the log for its verdict. */
export const rotate = (node: EdgeNode, forwards: Pick<Forwards, 'reopenLogs'>, layout: Layout) =>
  node.inTurn(() =>
    rotateLogs(
      [
        { layout, reopen: () => node.nginx.reopenLogs() },
        { layout: layout.forwards, reopen: () => forwards.reopenLogs() },
      ],
      new Date(),
    ),
  );

/** nginx treats a missing file as a miss. Files still being written have longer names. */
async function removeObjects(dir: string): Promise<void> {
  for (const outer of await namesIn(dir))
    for (const inner of await namesIn(path.join(dir, outer)))
      for (const file of await namesIn(path.join(dir, outer, inner)))
        if (/^[0-9a-f]{32}$/.test(file)) await rm(path.join(dir, outer, inner, file), { force: true });
}

const namesIn = (dir: string) => readdir(dir).catch(() => []);
