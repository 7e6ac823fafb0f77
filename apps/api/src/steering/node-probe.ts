// Active probes of nodes: TCP connections to the ports of their zone's sites. Only nodes without reports are probed,
// concurrently with steering, so that a silent machine delays nothing.
import net from 'node:net';

const TIMEOUT_MS = 2000;
const MAX_CONCURRENT = 100;
/** Ports tried per node. One that accepts a connection is enough. */
const MAX_PORTS = 2;
/** Interval between probes of a node, and the shorter one after a first failed probe. */
const PROBE_INTERVAL_MS = 3000;
const CONFIRM_MS = 400;

export interface ProbeTarget {
  id: string;
  ip: string;
  ports: readonly number[];
  /** One probe of the node has failed. */
  isSuspect: boolean;
}

export interface NodeProbe {
  /** Probe results since the last call: whether each node accepted a connection. */
  found: () => Map<string, boolean>;
  /** Probes these nodes where due. `wake` is called whenever a probe ends. */
  look: (nodes: readonly ProbeTarget[]) => void;
}

/** `mayAsk` is the outbound policy. A node at a forbidden address counts as unreachable. */
export function openNodeProbe(
  wake: () => void,
  isAllowed: (ip: string) => boolean,
  now: () => number = Date.now,
): NodeProbe {
  let found = new Map<string, boolean>();
  const underWay = new Set<string>();
  const endedAt = new Map<string, number>();

  async function probeNode({ id, ip, ports }: ProbeTarget) {
    underWay.add(id);
    // Only addresses are probed: a name would be resolved by this machine, and operators choose the addresses.
    const probedPorts = net.isIP(ip) !== 0 && isAllowed(ip) ? ports.slice(0, MAX_PORTS) : [];
    const results = await Promise.all(probedPorts.map((port) => canConnect(ip, port)));
    underWay.delete(id);
    endedAt.set(id, now());
    found.set(id, results.includes(true));
    wake();
  }
  return {
    found() {
      const since = found;
      found = new Map();
      return since;
    },
    look(nodes) {
      const ids = new Set(nodes.map(({ id }) => id));
      for (const id of endedAt.keys()) if (!ids.has(id)) endedAt.delete(id);
      // The node that has waited longest comes first, so that many silent nodes do not starve others.
      for (const node of nodes.toSorted((a, b) => (endedAt.get(a.id) ?? 0) - (endedAt.get(b.id) ?? 0))) {
        if (underWay.size >= MAX_CONCURRENT) return;
        const isDue = now() - (endedAt.get(node.id) ?? 0) >= (node.isSuspect ? CONFIRM_MS : PROBE_INTERVAL_MS);
        // Without ports there is nothing to probe.
        if (isDue && node.ports.length > 0 && !underWay.has(node.id)) void probeNode(node);
      }
    },
  };
}

const canConnect = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = net.connect({ host, port, timeout: TIMEOUT_MS });
    const done = (results: boolean) => {
      socket.destroy();
      resolve(results);
    };
    socket.once('connect', () => done(true));
    socket.once('timeout', () => done(false));
    socket.once('error', () => done(false));
  });
