// A node without nginx and disk. It joins over HTTP, uses the agent's own NATS code and keeps documents in memory.
// Many fit into one process.
import { JoinReply } from '@edgeloom/contract/edge/messages.ts';
import type {
  Ack,
  DocEntry,
  Heartbeat,
  NodeFigures,
  NodeGauges,
  PurgeOrder,
  Warmed,
} from '@edgeloom/contract/edge/messages.ts';
import type { UpgradeCommand, UpgradeReport } from '@edgeloom/contract/edge/releases.ts';
import { EMPTY_DIGEST, toggle } from '@edgeloom/contract/edge/digest.ts';
import { checkDoc, nodeKey, parseDoc } from '@edgeloom/contract/edge/documents.ts';
import type { EdgeDoc } from '@edgeloom/contract/edge/documents.ts';
import type { ZoneKeys } from '@edgeloom/contract/edge/sealed.ts';
import type { ReplayCommand, Replayed, Simulated, SimulatedRequest } from '@edgeloom/contract/edge/simulated.ts';
import type { Log } from '@edgeloom/agent/log.ts';
import type { Identity } from '@edgeloom/agent/link/identity.ts';
import type { HeldKeys } from '@edgeloom/agent/link/key-follower.ts';
import { Link } from '@edgeloom/agent/link/nats.ts';
import type { LinkedNode } from '@edgeloom/agent/link/nats.ts';
import { isIntact } from '@edgeloom/agent/plan.ts';
import { newUserSeed, openNatsKey } from '@edgeloom/contract/edge/nats-key.ts';

export interface JoinInvitation {
  control: string;
  token: string;
}

export class SimulatedNode implements LinkedNode {
  readonly identity: Identity;
  /** The key received on joining, 32 bytes as base64. */
  zoneKey = '';
  /** All received zone keys, the current one first. */
  heldKeys: ZoneKeys = [];
  /** Received key sets, each with the revision at that time. */
  readonly keyHistory: { revision: number; keys: string[] }[] = [];
  revision = 0;
  digest = EMPTY_DIGEST;
  readonly docs = new Map<string, DocEntry>();
  /** Every document in the order of application, including repetitions. */
  readonly applied: DocEntry[] = [];
  /** Stores only hashes, to save memory with many nodes. `doc` and `applied` stay empty. */
  storesOnlyHashes = false;
  readonly purged: string[][] = [];
  /** Received purge orders. */
  readonly orders: PurgeOrder[] = [];
  /** Documents that the node rejects, with the reason. */
  readonly rejectReasons = new Map<string, string>();
  /** Handles a purge. An exception is reported as its error. */
  purgeObjects: (urls: readonly string[]) => number = (urls) => urls.length;
  beforePurge: () => Promise<void> = () => Promise.resolve();
  onApplied: (entry: DocEntry) => void = () => undefined;
  readonly #startedAt = new Date().toISOString();
  #rejected: Ack['rejected'] = [];
  #link: Link | null = null;
  nginx: 'running' | 'unresponsive' = 'running';

  constructor(identity: Identity) {
    this.identity = identity;
  }

  readonly zoneKeys: HeldKeys = {
    ids: () => Promise.resolve(this.heldKeys.map(({ id }) => id)),
    take: (told) => this.#hold([...told, ...this.heldKeys.filter(({ id }) => told.every((one) => one.id !== id))]),
    keepOnly: (ids) => this.#hold(this.heldKeys.filter(({ id }) => ids.includes(id))),
  };

  #hold(keys: ZoneKeys): Promise<void> {
    this.heldKeys = keys;
    this.keyHistory.push({ revision: this.revision, keys: keys.map(({ id }) => id) });
    return Promise.resolve();
  }

  /** Handles a prefetch. */
  onPreheat: (urls: readonly string[]) => { fetched: number; error: string | null } = (urls) => ({
    fetched: urls.length,
    error: null,
  });

  /** Handles a URL that must stay cached. */
  onWarm: (url: string) => Warmed = () => ({ state: 'stored', fault: null, freshSeconds: 3600 });

  /** Names of other commands received. */
  readonly executedCommands: string[] = [];
  /** Commands that fail, with the reason. */
  readonly failingCommands = new Map<string, string>();
  /** Handles the order to join another zone. */
  onMove: (to: JoinInvitation) => Promise<void> = () => Promise.resolve();

  #obey(name: string): Promise<void> {
    const why = this.failingCommands.get(name);
    if (why !== undefined) return Promise.reject(new Error(why));
    this.executedCommands.push(name);
    return Promise.resolve();
  }

  /** Reports the state of an upgrade. Resolves when acknowledged. */
  async report(report: UpgradeReport): Promise<void> {
    if (this.#link === null) throw new Error('not connected');
    await this.#link.reportUpgrade(report);
  }

  /** Handles an upgrade order. An exception is its response. */
  onUpgrade: (command: UpgradeCommand) => Promise<void> = () => this.#obey('upgrade');
  gauges: () => NodeGauges = () => ({
    at: new Date().toISOString(),
    p99Ms: null,
    nginx: 'running',
    error: null,
  });

  /** Handles a simulated request. */
  simulate: (request: SimulatedRequest) => Promise<Simulated> = () => Promise.reject(new Error('it does not'));

  /** Handles a page of a replay. */
  replay: (page: Pick<ReplayCommand, 'requests' | 'docs'>) => Promise<(Replayed | null)[]> = () =>
    Promise.reject(new Error('it does not'));

  readonly commandHandlers: LinkedNode['commandHandlers'] = {
    reset: async (fetchAll) => {
      await this.#obey('reset');
      await fetchAll();
    },
    clearCache: (tags) => this.#obey(tags === null ? 'clearCache' : `clearCache ${tags.join(' ')}`),
    rotateLogs: () => this.#obey('rotateLogs'),
    upgrade: (command) => this.onUpgrade(command),
    removePack: () => this.#obey('removePack'),
    gauges: async () => this.gauges(),
    reboot: () => this.#obey('reboot'),
    system: async () => {
      await this.#obey('system');
      return { ...idle, at: new Date().toISOString() };
    },
    running: () => Promise.resolve({ generation: 1, documents: this.docs.size, files: [] }),
    move: (to) => this.onMove(to),
    simulate: (request) => this.simulate(request),
    replay: (page) => this.replay(page),
    preheat: (urls) => Promise.resolve(this.onPreheat(urls)),
    heldPorts: () => Promise.resolve([]),
    warm: (urls) => Promise.resolve(urls.map((url) => this.onWarm(url))),
    purge: async (order) => {
      const urls = order.urls ?? [];
      await this.beforePurge();
      const objects = this.purgeObjects(urls);
      this.purged.push([...urls]);
      this.orders.push(order);
      return objects;
    },
  };

  connect(log: Log = silent): void {
    this.#link ??= new Link(this, log);
  }

  /** Sends nginx's state in a heartbeat at once, as the watchdog does. */
  reportNginx(nginx: 'running' | 'unresponsive'): void {
    this.nginx = nginx;
    this.#link?.heartbeatNow();
  }

  async disconnect(): Promise<void> {
    await this.#link?.stop();
    this.#link = null;
  }

  doc(key: string): EdgeDoc | null {
    const body = this.docs.get(key)?.body ?? null;
    return body === null ? null : parseDoc(key, body);
  }

  get zoneDigest(): string | null {
    const own = nodeKey(this.identity.nodeID);
    const known = this.docs.get(own);
    if (this.#rejected.length > 0) return null;
    return known === undefined ? this.digest : toggle(this.digest, own, known.sha256);
  }

  keys(): Iterable<string> {
    return this.docs.keys();
  }

  async apply(entries: readonly DocEntry[], reached: number): Promise<Ack> {
    for (const entry of entries) {
      const { key, revision } = entry;
      if (key.startsWith('node/') && key !== `node/${this.identity.nodeID}`) continue;
      this.#rejected = this.#rejected.filter((one) => one.key !== key);
      const refusal = this.rejectReasons.get(key) ?? (isIntact(entry) ? null : 'damaged');
      if (refusal !== null) this.#rejected.push({ key, revision, error: refusal });
      else this.#store(entry);
    }
    this.revision = reached;
    return {
      revision: reached,
      state: this.#rejected.length > 0 ? 'rejected' : 'applied',
      rejected: this.#rejected,
      tookMs: 1,
    };
  }

  /** Drops a document, as after data loss. */
  dropDocument(key: string): void {
    const known = this.docs.get(key);
    if (known === undefined) throw new Error(`${key} was never here`);
    this.docs.delete(key);
    this.digest = toggle(this.digest, key, known.sha256);
  }

  #store(entry: DocEntry) {
    const known = this.docs.get(entry.key);
    if (known !== undefined) this.digest = toggle(this.digest, entry.key, known.sha256);
    if (entry.body === null) this.docs.delete(entry.key);
    else {
      if (!this.storesOnlyHashes) checkDoc(entry.key, entry.body);
      this.docs.set(entry.key, this.storesOnlyHashes ? { ...entry, body: null } : entry);
      this.digest = toggle(this.digest, entry.key, entry.sha256);
    }
    if (!this.storesOnlyHashes) this.applied.push(entry);
    this.onApplied(entry);
  }

  health(): Omit<Heartbeat, 'revision'> {
    return {
      digest: this.digest,
      version: 'simulated',
      startedAt: this.#startedAt,
      nginx: this.nginx,
      error: this.nginx === 'unresponsive' ? 'nginx does not respond' : null,
      rejected: this.#rejected,
      capabilities: ['simulated'],
    };
  }
}

const idle: Omit<NodeFigures, 'at'> = {
  cpu: 0.25,
  memoryUsed: 2e9,
  memoryTotal: 8e9,
  diskUsed: 1e10,
  diskTotal: 1e11,
  received: 1e6,
  sent: 5e7,
  connections: 12,
  cores: 4,
  loadAverages: [0.5, 0.4, 0.3],
  uptimeSeconds: 86_400,
  system: 'Simulated Linux',
  reading: 1,
  writing: 3,
  waiting: 8,
  established: 14,
  timeWait: 20,
  interfaces: [{ name: 'eth0', received: 1e6, sent: 5e7 }],
};

const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

export async function joinSimulated({ control, token }: JoinInvitation): Promise<SimulatedNode> {
  const seed = newUserSeed();
  const answer = await fetch(`${control}/api/v1/node/join`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, publicKey: openNatsKey(seed).publicKey, version: 'simulated', keyRing: true }),
  });
  if (!answer.ok) throw new Error(`join: ${answer.status} ${await answer.text()}`);
  const { zoneKey, zoneKeys, ...reply } = JoinReply.parse(await answer.json());
  const node = new SimulatedNode({ ...reply, seed });
  node.zoneKey = zoneKey;
  node.heldKeys = zoneKeys ?? [{ id: 'first', key: zoneKey }];
  return node;
}
