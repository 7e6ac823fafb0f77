// Looks at nodes from outside: do they take connections where their zone's sites listen? Asked only of those that nothing is
// heard of, beside the passes: a machine that is silent makes nobody wait.
import net from 'node:net';

const PATIENCE_MS = 2000;
const AT_ONCE = 100;
/** Ports that are tried: one that answers is enough. */
const PORTS = 2;
/** Until the next look at the same; sooner where one look in vain is to be confirmed. */
const AGAIN_MS = 3000;
const CONFIRM_MS = 400;

export interface Doubtful {
  id: string;
  ip: string;
  ports: readonly number[];
  /** It was looked at in vain once. */
  isSuspect: boolean;
}

export interface Lookout {
  /** What was found since this was asked last: by node, does it answer? */
  found: () => Map<string, boolean>;
  /** Begins a look at each that none is under way at; whoever is interested is called when one ends. */
  look: (nodes: readonly Doubtful[]) => void;
}

/** Where nobody may be connected to, nobody answers. */
export function openLookout(wake: () => void, mayAsk: (ip: string) => boolean, now: () => number = Date.now): Lookout {
  let found = new Map<string, boolean>();
  const underWay = new Set<string>();
  const endedAt = new Map<string, number>();

  async function lookAt({ id, ip, ports }: Doubtful) {
    underWay.add(id);
    // A name would be looked up wherever this machine looks; an address is what nodes have, of their operator's choosing.
    const asked = net.isIP(ip) !== 0 && mayAsk(ip) ? ports.slice(0, PORTS) : [];
    const answers = await Promise.all(asked.map((port) => connects(ip, port)));
    underWay.delete(id);
    endedAt.set(id, now());
    found.set(id, answers.includes(true));
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
      // Whoever has waited longest comes first: many that are silent keep nobody from being looked at.
      for (const node of nodes.toSorted((a, b) => (endedAt.get(a.id) ?? 0) - (endedAt.get(b.id) ?? 0))) {
        if (underWay.size >= AT_ONCE) return;
        const isDue = now() - (endedAt.get(node.id) ?? 0) >= (node.isSuspect ? CONFIRM_MS : AGAIN_MS);
        // A zone without ports tells nothing.
        if (isDue && node.ports.length > 0 && !underWay.has(node.id)) void lookAt(node);
      }
    },
  };
}

const connects = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = net.connect({ host, port, timeout: PATIENCE_MS });
    const done = (answers: boolean) => {
      socket.destroy();
      resolve(answers);
    };
    socket.once('connect', () => done(true));
    socket.once('timeout', () => done(false));
    socket.once('error', () => done(false));
  });
