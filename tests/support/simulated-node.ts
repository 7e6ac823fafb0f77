// A node without nginx or disk: joins over HTTP and speaks over NATS with the agent's own code, and keeps its documents in
// memory. Many fit into one process.
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
import type { Simulated, SimulatedRequest } from '@edgeloom/contract/edge/simulated.ts';
import type { Log } from '@edgeloom/agent/log.ts';
import type { Identity } from '@edgeloom/agent/link/identity.ts';
import type { HeldKeys } from '@edgeloom/agent/link/key-follower.ts';
import { Link } from '@edgeloom/agent/link/nats.ts';
import type { LinkedNode } from '@edgeloom/agent/link/nats.ts';
import { isIntact } from '@edgeloom/agent/plan.ts';
import { nkeys } from 'nats';

export interface Invitation {
  control: string;
  token: string;
}

export class SimulatedNode implements LinkedNode {
  readonly identity: Identity;
  /** As it was told at its join: base64 of 32 bytes. */
  zoneKey = '';
  /** All that it was told of since, the current one first. */
  held: ZoneKeys = [];
  /** When it took others: its revision at that moment, and their ids. */
  readonly taken: { revision: number; keys: string[] }[] = [];
  revision = 0;
  digest = EMPTY_DIGEST;
  readonly docs = new Map<string, DocEntry>();
  /** Every document in the order in which it was applied, repetitions included. */
  readonly applied: DocEntry[] = [];
  /** Keeps hashes and forgets bodies, for many nodes with many documents: then `doc` and `applied` have nothing to say. */
  isLean = false;
  readonly purged: string[][] = [];
  /** The same with all that they said. */
  readonly orders: PurgeOrder[] = [];
  /** Documents that this node refuses, with why. */
  readonly refuses = new Map<string, string>();
  /** What a purge answers; an error that it throws is one that the node answers with. */
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
    ids: () => Promise.resolve(this.held.map(({ id }) => id)),
    take: (told) => this.#hold([...told, ...this.held.filter(({ id }) => told.every((one) => one.id !== id))]),
    keepOnly: (ids) => this.#hold(this.held.filter(({ id }) => ids.includes(id))),
  };

  #hold(keys: ZoneKeys): Promise<void> {
    this.held = keys;
    this.taken.push({ revision: this.revision, keys: keys.map(({ id }) => id) });
    return Promise.resolve();
  }

  /** What a preheat answers. */
  preheated: (urls: readonly string[]) => { fetched: number; error: string | null } = (urls) => ({
    fetched: urls.length,
    error: null,
  });

  /** What it finds of each URL that it is to keep stored. */
  warmed: (url: string) => Warmed = () => ({ state: 'stored', fault: null, freshSeconds: 3600 });

  /** What it was asked to do besides, by name. */
  readonly obeyed: string[] = [];
  /** It answers that it cannot, and why. */
  readonly unable = new Map<string, string>();
  /** It would join anew by this. */
  onMove: (to: Invitation) => Promise<void> = () => Promise.resolve();

  #obey(name: string): Promise<void> {
    const why = this.unable.get(name);
    if (why !== undefined) return Promise.reject(new Error(why));
    this.obeyed.push(name);
    return Promise.resolve();
  }

  /** Tells what became of an upgrade; back once it was answered. */
  async report(report: UpgradeReport): Promise<void> {
    if (this.#link === null) throw new Error('not connected');
    await this.#link.reportUpgrade(report);
  }

  /** What it makes of an order to take a release; what it throws is its answer. */
  onUpgrade: (command: UpgradeCommand) => Promise<void> = () => this.#obey('upgrade');
  gauges: () => NodeGauges = () => ({
    at: new Date().toISOString(),
    requests: 0,
    serverErrors: 0,
    p99Ms: null,
    nginx: 'running',
    error: null,
  });

  /** What it says of a request that nobody made. */
  simulate: (request: SimulatedRequest) => Promise<Simulated> = () => Promise.reject(new Error('it does not'));

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
    preheat: (urls) => Promise.resolve(this.preheated(urls)),
    heldPorts: () => Promise.resolve([]),
    warm: (urls) => Promise.resolve(urls.map((url) => this.warmed(url))),
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

  /** Reports the state in a heartbeat at once, as the watchdog does. */
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
      const refusal = this.refuses.get(key) ?? (isIntact(entry) ? null : 'damaged');
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

  /** As a disk loses it. */
  lose(key: string): void {
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
      if (!this.isLean) checkDoc(entry.key, entry.body);
      this.docs.set(entry.key, this.isLean ? { ...entry, body: null } : entry);
      this.digest = toggle(this.digest, entry.key, entry.sha256);
    }
    if (!this.isLean) this.applied.push(entry);
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

export async function joinSimulated({ control, token }: Invitation): Promise<SimulatedNode> {
  const pair = nkeys.createUser();
  const answer = await fetch(`${control}/api/v1/node/join`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, publicKey: pair.getPublicKey(), version: 'simulated', keyRing: true }),
  });
  if (!answer.ok) throw new Error(`join: ${answer.status} ${await answer.text()}`);
  const { zoneKey, zoneKeys, ...reply } = JoinReply.parse(await answer.json());
  const node = new SimulatedNode({ ...reply, seed: pair.getSeed() });
  node.zoneKey = zoneKey;
  node.held = zoneKeys ?? [{ id: 'first', key: zoneKey }];
  return node;
}
