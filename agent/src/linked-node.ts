// The node as the control plane sees it: what it applies, what it reports, and its housekeeping.
import type { Ack, DocEntry, Heartbeat } from '@edgeloom/contract/edge/messages.ts';
import type { EdgeNode } from './edge-node.ts';
import type { Identity } from './link/identity.ts';
import type { HeldKeys } from './link/key-follower.ts';
import type { LinkedNode } from './link/nats.ts';
import type { Meter } from './machine/meter.ts';
import type { Log } from './log.ts';
import type { LogFigures } from './metrics.ts';
import { digestWithout, reconcile, reportOf, zoneDigestWithout } from './reconcile.ts';
import type { Refusals } from './reconcile.ts';
import type { Capabilities } from './render/capabilities.ts';
import { Scrub } from './store/scrub.ts';
import { version } from './version.ts';

/** A small node is verified completely between two heartbeats, one with 100,000 documents in half an hour. */
const SCRUB_FILES = 2000;

interface Deps {
  node: EdgeNode;
  identity: Identity;
  refusals: Refusals;
  zoneKeys: HeldKeys;
  commandHandlers: LinkedNode['commandHandlers'];
  meter: Meter;
  isDiskFull: () => boolean;
  logs: () => Promise<LogFigures>;
  blocks: NonNullable<LinkedNode['blocks']>;
  capabilities: Capabilities;
  /** Other errors of this machine. */
  fault: () => string | null;
  /** Patterns that nginx cannot compile. */
  patterns: () => Promise<Heartbeat['patterns']>;
  /** The running release and its packs. */
  has: () => { release: string | null; packs: Record<string, string> };
  /** Applies the documents on disk to nginx again. */
  refresh: () => Promise<void>;
  log: Log;
}

export function linkedNode({
  node,
  identity,
  refusals,
  zoneKeys,
  commandHandlers,
  meter,
  isDiskFull,
  logs,
  blocks,
  capabilities,
  fault,
  patterns,
  has,
  refresh,
  log,
}: Deps): LinkedNode {
  const { store } = node;
  const scrub = new Scrub(store);
  // Only a crash leaves files behind, so once per start is enough.
  let swept = false;
  const startedAt = new Date().toISOString();
  let failing: Heartbeat['patterns'] = [];
  const apply = async (entries: readonly DocEntry[], reached: number): Promise<Ack> => {
    const ack = await reconcile(node, refusals, entries, reached);
    if (entries.length > 0) {
      log.info('documents applied', {
        documents: entries.length,
        revision: ack.revision,
        state: ack.state,
        tookMs: Math.round(ack.tookMs),
      });
    }
    for (const rejection of ack.rejected) log.warn('a document is refused', rejection);
    return ack;
  };

  const sweep = async () => {
    const unknown = await scrub.sweep((key) => refusals.has(key));
    if (unknown.length === 0) return;
    log.warn('orphaned files were removed', { files: unknown.length });
    await node.inTurn(() => node.bump(unknown));
  };

  return {
    identity,
    zoneKeys,
    commandHandlers,
    blocks,
    load: async () => {
      const { waitingBytes, droppedLines } = await logs();
      return { ...(await meter.load()), cacheDiskFull: isDiskFull(), logs: { waitingBytes, droppedLines } };
    },
    // Includes rejected documents, which the zone may since have removed.
    keys: () => new Set([...store.keys(), ...refusals.keys()]),
    get revision() {
      return store.revision;
    },
    get digest() {
      return digestWithout(refusals, node);
    },
    get zoneDigest() {
      return zoneDigestWithout(refusals, node);
    },
    apply: (entries, reached) => node.inTurn(() => apply(entries, reached)),
    inSync: (full) => {
      if (swept && !full) return;
      swept = true;
      sweep().catch((error: unknown) => log.warn('could not search for orphaned files', { error }));
    },
    health: () => ({
      digest: store.digest,
      version,
      startedAt,
      nginx: node.state,
      error: node.state === 'unresponsive' ? fault() : (node.error ?? fault()),
      rejected: reportOf(refusals),
      patterns: failing,
      ...has(),
      capabilities: namesOf(capabilities),
    }),
    chores: async () => {
      failing = await patterns();
      // The port may be free now.
      const refused = [...refusals.values()].flatMap(({ change }) => change ?? []);
      const ack = refused.length > 0 ? await node.inTurn(() => apply(refused, store.revision)) : null;
      if (refused.length === 0 && node.error !== null) await refresh();
      const { damaged } = await scrub.step(SCRUB_FILES);
      for (const one of damaged) log.error('a document on disk is damaged', one);
      const lostFrom =
        damaged.length > 0 ? Math.max(0, Math.min(...damaged.map(({ revision }) => revision)) - 1) : null;
      return { lostFrom, ack };
    },
  };
}

const namesOf = (capabilities: Capabilities): string[] => [
  `nginx/${capabilities.version}`,
  ...Object.entries(capabilities).flatMap(([name, value]) => (value === true ? [name] : [])),
];
