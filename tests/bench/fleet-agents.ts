// Many agents in one process: the agent's own code from NATS to documents, without nginx and disk. Reports when all
// have reached a revision. Their own cost is not measured.
import type { NodeLoad } from '@edgeloom/contract/edge/messages.ts';
import type { Identity } from '@edgeloom/agent/link/identity.ts';
import * as z from 'zod';
import { SimulatedNode } from '../support/fakes/simulated-node.ts';

const Order = z.union([
  z.object({
    connect: z.array(
      z.object({
        nodeID: z.string(),
        zoneID: z.string(),
        natsServers: z.array(z.string()),
        jwt: z.string(),
        seed: z.string(),
      }),
    ),
  }),
  z.object({ reach: z.int() }),
]);

class BusyNode extends SimulatedNode {
  load = (): Promise<NodeLoad> =>
    Promise.resolve({
      cpu: Math.random(),
      memoryUsed: 2e9,
      memoryTotal: 8e9,
      diskUsed: 1e10,
      diskTotal: 1e11,
      received: 1e6,
      sent: 5e7,
      connections: 12,
    });
}

const nodes: BusyNode[] = [];
const LOOK_MS = 20;
/** Machines do not boot at the same instant. */
const [SLICE, SLICE_MS] = [25, 50];

/** Resolves when the last agent has reached the revision, with the time of each. */
async function reach(revision: number): Promise<number[]> {
  const began = performance.now();
  const took = new Map<BusyNode, number>();
  while (took.size < nodes.length) {
    for (const node of nodes)
      if (!took.has(node) && node.revision >= revision) took.set(node, performance.now() - began);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return [...took.values()];
}

process.on('message', (message) => {
  const order = Order.parse(message);
  if ('connect' in order) {
    for (const { seed, ...identity } of order.connect) {
      const whole: Identity = { ...identity, seed: Buffer.from(seed, 'base64') };
      const node = new BusyNode(whole);
      node.storesOnlyHashes = true;
      setTimeout(() => node.connect(), Math.floor(nodes.length / SLICE) * SLICE_MS);
      nodes.push(node);
    }
  } else if ('reach' in order) {
    void reach(order.reach).then((took) => process.send?.({ took }));
  }
});
process.on('disconnect', () => process.exit(0));
