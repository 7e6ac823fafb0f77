// A real edge in its own directory: documents on disk, the agent's rendered configuration, the machine's nginx.
// Tests look at it from outside, as clients and origins do.
import { execFile } from 'node:child_process';
import { createCipheriv, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import type { OutgoingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { findWorkers } from '@edgeloom/agent/host.ts';
import { layoutOf, prepareLayout } from '@edgeloom/agent/layout.ts';
import { Admin } from '@edgeloom/agent/nginx/admin.ts';
import { findProcess } from '@edgeloom/agent/nginx/processes.ts';
import { selfSigned } from '@edgeloom/agent/nginx/self-signed.ts';
import { storeZonePair } from '@edgeloom/agent/nginx/zone-pair.ts';
import { storeZoneKeys } from '@edgeloom/agent/store/zone-keys.ts';
import { FIRST_KEY, type ZoneKeys } from '@edgeloom/contract/edge/sealed.ts';
import { detectCapabilities } from '@edgeloom/agent/render/capabilities.ts';
import { renderTree } from '@edgeloom/agent/render/render.ts';
import { docPath, encodeDocFile } from '@edgeloom/agent/store/files.ts';
import { keyOf, parseDoc } from '@edgeloom/contract/edge/documents.ts';
import type {
  CacheRuleDoc,
  CertDoc,
  EdgeDoc,
  HostDoc,
  NodeDoc,
  SiteDoc,
  ZoneDoc,
} from '@edgeloom/contract/edge/documents.ts';
import { eventually } from '../assertions/eventually.ts';
import { startOrigin } from '../fakes/origin.ts';
import type { Origin } from '../fakes/origin.ts';
import { freePorts } from './ports.ts';
import { testDir } from './test-dir.ts';

const run = promisify(execFile);
const nginx = 'nginx';

export type Ask = {
  host?: string;
  method?: string;
  headers?: OutgoingHttpHeaders;
  body?: string | Buffer;
  port?: number;
  /** Uses TLS with this SNI; false means TLS without SNI. */
  tls?: string | false;
  /** Limit of response header bytes. Node's default is 16 kB. */
  maxHeaderSize?: number;
};

export class Reply {
  readonly status: number;
  readonly rawHeaders: string[];
  readonly bytes: Buffer;
  constructor(status: number, rawHeaders: string[], bytes: Buffer) {
    this.status = status;
    this.rawHeaders = rawHeaders;
    this.bytes = bytes;
  }
  get body(): string {
    return this.bytes.toString();
  }
  /** All values of a header, in order. */
  all(name: string): string[] {
    return this.rawHeaders.filter((_, i, raw) => i % 2 === 1 && raw[i - 1]?.toLowerCase() === name.toLowerCase());
  }
  /** The header's lines joined, or undefined. */
  header(name: string): string | undefined {
    const values = this.all(name);
    return values.length === 0 ? undefined : values.join(', ');
  }
  /** `hit`, or the reason why the request was forwarded. */
  get cache(): string {
    // The last entry is this node's; entries of upstream caches come first.
    const entry = this.header('cache-status')?.split(', ').at(-1) ?? '';
    return /; fwd=([a-z-]+)/.exec(entry)?.[1] ?? (entry.includes('; hit') ? 'hit' : entry);
  }
}

export const zoneDoc = (ports: { http: number; https: number }, over: Partial<ZoneDoc> = {}): ZoneDoc => ({
  kind: 'zone',
  id: randomUUID(),
  ports: [
    { port: ports.http, tls: false },
    { port: ports.https, tls: true },
  ],
  http2: true,
  tlsProtocols: ['TLSv1.2', 'TLSv1.3'],
  worker: { processes: 2, connections: 1024 },
  cache: { maxBytes: 256 << 20, keyBytes: 4 << 20, inactiveSeconds: 3600 },
  maxBodyBytes: 0,
  originPolicy: { deny: ['127.0.0.0/8', '::1/128'], allow: ['127.0.0.0/8', '::1/128'] },
  ...over,
});

export const siteDoc = (over: Partial<SiteDoc> = {}): SiteDoc => ({
  kind: 'site',
  id: randomUUID(),
  status: 'normal',
  cacheVersion: 0,
  cacheRules: [],
  staleIfError: 0,
  ...over,
});

export const upstream = (port: number, over: Partial<HostDoc['origin']['upstreams'][number]> = {}) => ({
  id: randomUUID(),
  address: '127.0.0.1',
  port,
  weight: 1,
  backup: false,
  ...over,
});

export type HostOverrides = Partial<Omit<HostDoc, 'origin'>> & { origin?: Partial<HostDoc['origin']> };

export const hostDoc = (site: { id: string }, port: number, { origin = {}, ...over }: HostOverrides = {}): HostDoc => ({
  kind: 'host',
  name: `${randomBytes(4).toString('hex')}.example.com`,
  domainID: randomUUID(),
  siteID: site.id,
  cacheVersion: 0,
  certID: null,
  ...over,
  origin: {
    scheme: 'http',
    portMap: [],
    host: null,
    sni: null,
    method: 'roundRobin',
    maxFails: 0,
    failTimeoutSeconds: 10,
    connectTimeoutSeconds: 2,
    readTimeoutSeconds: 10,
    upstreams: [upstream(port)],
    ...origin,
  },
});

export const rule = (over: Partial<CacheRuleDoc> = {}): CacheRuleDoc => ({
  id: randomUUID(),
  type: 'prefix',
  value: ['/'],
  cacheTime: 60,
  honourOrigin: false,
  query: 'all',
  queryNames: [],
  ...over,
});

/** Replaces the first `from` in a Lua file with `to`. */
export type LuaChange = { file: string; from: string; to: string };

export type EdgeOptions = {
  zone?: Partial<ZoneDoc>;
  /** Name servers as `address:port`. */
  resolvers?: string[];
  /** Shared dictionary sizes, to test full dictionaries. */
  dicts?: Record<string, string>;
  /** Patches of the Lua code, for shorter limits or errors that cannot be provoked from outside. */
  lua?: LuaChange[];
  enabled?: boolean;
  /** Trusted certificate authorities for origins, as PEM. */
  trustedAuthorities?: string;
  /** Runs without the kernel firewall, so that nginx refuses blocked addresses. */
  blocksInNginx?: boolean;
  /** The zone's key, to share between several nodes. */
  zoneKey?: Buffer;
  /** The port on which this node serves edge nodes as a relay. */
  relayPort?: number;
  /** Listen address. Nodes of one zone share their ports and differ in address. */
  address?: string;
  ports?: { http: number; https: number };
};

export async function startEdge({
  zone = {},
  resolvers = [],
  dicts = {},
  lua = [],
  enabled = true,
  trustedAuthorities,
  blocksInNginx = false,
  zoneKey = randomBytes(32),
  relayPort,
  address = '127.0.0.1',
  ports,
}: EdgeOptions = {}): Promise<Edge> {
  const dir = await testDir();
  const [free = 0, more = 0] = await freePorts(2);
  const { http, https } = ports ?? { http: free, https: more };
  const [capabilities, workers, origin] = await Promise.all([detectCapabilities(nginx), findWorkers(), startOrigin()]);
  const layout = layoutOf(dir);
  await prepareLayout(layout, workers);
  const fallback = selfSigned('fallback.invalid');
  await storeZoneKeys(layout.keys, [{ id: FIRST_KEY, key: zoneKey.toString('base64') }]);
  await storeZonePair(dir);
  await writeFile(join(layout.keys, 'fallback.pem'), fallback.cert);
  await writeFile(join(layout.keys, 'fallback.key'), fallback.key, { mode: 0o600 });
  const facts = {
    dir,
    luaDir: lua.length === 0 ? luaCode : await changedLua(dir, lua),
    listen: [address],
    user: workers?.user ?? null,
    capabilities,
    resolvers,
    refuses: blocksInNginx,
    caBundle: trustedAuthorities === undefined ? null : join(layout.keys, 'trusted.pem'),
  };
  if (trustedAuthorities !== undefined) await writeFile(facts.caBundle ?? '', trustedAuthorities);
  const node: NodeDoc = {
    kind: 'node',
    id: randomUUID(),
    enabled,
    cacheMaxBytes: 0,
    ...(relayPort !== undefined && { relayPort }),
  };
  const edge = new Edge(dir, address, { http, https }, origin, zoneKey, (doc, generation) => {
    const tree = renderTree({ zone: doc, node, generation, host: facts });
    const main = tree.get('nginx.conf') ?? '';
    const sized = (name: string, size: string) =>
      [new RegExp(`(lua_shared_dict ${name}) \\w+;`), `$1 ${size};`] as const;
    const sizes = Object.entries(dicts).map(([name, size]) => sized(name, size));
    return tree.set(
      'nginx.conf',
      sizes.reduce((text, [from, to]) => text.replace(from, to), main),
    );
  });
  const doc = zoneDoc({ http, https }, zone);
  await edge.write(doc);
  await edge.render(doc);
  await edge.start();
  return edge;
}

const luaCode = join(import.meta.dirname, '../../../agent/lua');

async function changedLua(dir: string, changes: LuaChange[]): Promise<string> {
  const copy = join(dir, 'lua');
  await cp(luaCode, copy, { recursive: true });
  for (const { file, from, to } of changes) {
    const path = join(copy, file);
    const text = await readFile(path, 'utf8');
    if (!text.includes(from)) throw new Error(`${file} does not contain: ${from}`);
    await writeFile(path, text.replace(from, to));
  }
  return copy;
}

const workersOf = async (master: number) =>
  (await readFile(`/proc/${master}/task/${master}/children`, 'utf8')).split(' ').filter((pid) => pid !== '');

/** nginx changes the process title of a worker that is shutting down. */
async function takesConnections(pid: string): Promise<boolean> {
  const title = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return title.startsWith('nginx: worker process') && !title.includes('shutting down');
}

export class Edge {
  readonly dir: string;
  readonly ports: { http: number; https: number };
  /** The default origin of domains made by `site()`. */
  readonly origin: Origin;
  readonly admin: Admin;
  readonly #address: string;
  readonly #zoneKey: Buffer;
  readonly #render: (zone: ZoneDoc, generation: number) => Map<string, string>;
  #revision = 0;
  #generation = 0;

  constructor(
    dir: string,
    address: string,
    ports: { http: number; https: number },
    origin: Origin,
    zoneKey: Buffer,
    render: (zone: ZoneDoc, generation: number) => Map<string, string>,
  ) {
    this.dir = dir;
    this.ports = ports;
    this.#address = address;
    this.origin = origin;
    this.admin = new Admin(join(dir, 'run/admin.sock'));
    this.#zoneKey = zoneKey;
    this.#render = render;
  }

  /** Creates a site with one domain in front of the edge's origin. */
  async site(
    site: Partial<SiteDoc> = {},
    host: HostOverrides = {},
  ): Promise<{ site: SiteDoc; host: HostDoc; name: string }> {
    const made = siteDoc(site);
    const domain = hostDoc(made, this.origin.port, host);
    await this.put(made, domain);
    return { site: made, host: domain, name: domain.name };
  }

  /** Writes documents and notifies nginx, as the agent does. */
  async put(...docs: EdgeDoc[]): Promise<void> {
    for (const doc of docs) await this.write(doc);
    await this.admin.bump(docs.map(keyOf));
  }

  async remove(...keys: string[]): Promise<void> {
    for (const key of keys) await rm(this.pathOf(key));
    await this.admin.bump(keys);
  }

  pathOf(key: string): string {
    return join(this.dir, 'docs', docPath(key));
  }

  /** Writes a document without notifying nginx. */
  async write(doc: EdgeDoc): Promise<void> {
    const body = JSON.stringify(doc);
    parseDoc(keyOf(doc), body);
    await this.writeRaw(keyOf(doc), encodeDocFile((this.#revision += 1), body));
  }

  /** Writes a document that need not match the schema, as from a newer control plane. */
  async putBody(key: string, body: object): Promise<void> {
    await this.writeRaw(key, encodeDocFile((this.#revision += 1), JSON.stringify(body)));
    await this.admin.bump([key]);
  }

  async writeRaw(key: string, bytes: string | Buffer): Promise<void> {
    const path = this.pathOf(key);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(`${path}.new`, bytes);
    await rename(`${path}.new`, path);
  }

  /** Encrypts a private key as certificate documents store it. */
  seal(text: string, key: string): CertDoc['pairs'][number]['key'] {
    const iv = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.#zoneKey, iv).setAAD(Buffer.from(key));
    const data = Buffer.concat([cipher.update(text), cipher.final()]);
    return { iv: iv.toString('base64'), data: data.toString('base64'), tag: cipher.getAuthTag().toString('base64') };
  }

  async render(zone: ZoneDoc): Promise<void> {
    this.#generation += 1;
    const conf = join(this.dir, 'conf');
    await mkdir(join(conf, String(this.#generation)));
    for (const [path, text] of this.#render(zone, this.#generation)) {
      await writeFile(join(conf, String(this.#generation), path), text);
    }
    await symlink(String(this.#generation), join(conf, 'next'));
    await rename(join(conf, 'next'), join(conf, 'current'));
  }

  async start(): Promise<void> {
    await run(nginx, [...this.#arguments, '-c', join(this.dir, 'conf/current/nginx.conf')]);
    await eventually(() => this.admin.status());
  }

  /** Resolves when only new workers serve. */
  async reload(): Promise<void> {
    const master = await this.pid();
    const before = await workersOf(master);
    process.kill(master, 'SIGHUP');
    await eventually(async () => {
      const { generation } = await this.admin.status();
      if (generation !== this.#generation) throw new Error(`generation ${generation} serves`);
      // Old workers accept connections for a moment beside the new ones.
      for (const pid of before) if (await takesConnections(pid)) throw new Error(`worker ${pid} serves as well`);
    });
  }

  /** Sets the zone keys, as the agent does during key rotation. The current key is first. */
  async setZoneKeys(keys: ZoneKeys): Promise<void> {
    await storeZoneKeys(join(this.dir, 'keys'), keys);
    await storeZonePair(this.dir);
    await this.reload();
  }

  async pid(): Promise<number> {
    return Number(await readFile(join(this.dir, 'run/nginx.pid'), 'utf8'));
  }

  async halt(): Promise<void> {
    const pid = await this.pid();
    process.kill(pid, 'SIGTERM');
    await eventually(async () => {
      if ((await findProcess(pid)) !== null) throw new Error('nginx still runs');
    });
  }

  /** Restarts nginx, which clears all memory. */
  async restart(): Promise<void> {
    await this.halt();
    await this.start();
  }

  async stop(): Promise<void> {
    await this.halt();
    await this.origin.stop();
    await rm(this.dir, { recursive: true, force: true });
  }

  async purge(...urls: string[]): Promise<number> {
    return this.admin.purge({ urls }, 60_000);
  }

  /** Counters of internal errors that visitors do not notice. */
  async counters(): Promise<Record<string, number>> {
    return JSON.parse(await readSocket(join(this.dir, 'run/admin.sock'), '/status')).counters;
  }

  /** Free bytes of a shared dictionary, in whole pages. */
  async freeBytes(dict: string): Promise<number> {
    return JSON.parse(await readSocket(join(this.dir, 'run/admin.sock'), '/status')).dicts[dict].free;
  }

  get(path: string, { host, method = 'GET', headers = {}, body, port, tls, maxHeaderSize }: Ask = {}): Promise<Reply> {
    const secure = tls !== undefined;
    const options = {
      host: this.#address,
      port: port ?? (secure ? this.ports.https : this.ports.http),
      path,
      method,
      headers: { ...(host !== undefined && { host }), ...headers },
      agent: false as const,
      ...(maxHeaderSize !== undefined && { maxHeaderSize }),
    };
    return new Promise((resolve, reject) => {
      const call = secure
        ? httpsRequest({ ...options, servername: tls === false ? '' : tls, rejectUnauthorized: false })
        : httpRequest(options);
      call.on('error', reject);
      call.on('response', (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('error', reject);
        answer.on('end', () => resolve(new Reply(answer.statusCode ?? 0, answer.rawHeaders, Buffer.concat(chunks))));
      });
      call.end(body);
    });
  }

  /** Sends raw bytes and resolves with everything received until the connection closes. */
  async raw(text: string): Promise<string> {
    const socket = connect(this.ports.http, this.#address);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.write(text);
    await once(socket, 'close');
    return Buffer.concat(chunks).toString();
  }

  /** The access log entry of a response. */
  accessLogEntry(reply: Reply): Promise<Record<string, unknown>> {
    const id = reply.header('x-request-id');
    return eventually(async () => {
      const row = (await this.log()).find((one) => one['id'] === id);
      if (row === undefined) throw new Error(`no row of ${id}`);
      return row;
    });
  }

  /**
   * The access log so far. The signal makes the workers write their buffers, which the next call reads. A test that
   * expects no row first waits for a later row of each worker.
   */
  async log(): Promise<Record<string, unknown>[]> {
    process.kill(await this.pid(), 'SIGUSR1');
    const text = await readFile(join(this.dir, 'logs/access.json'), 'utf8');
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  }

  errors(): Promise<string> {
    return readFile(join(this.dir, 'logs/error.log'), 'utf8');
  }

  get #arguments(): string[] {
    return ['-p', this.dir, '-e', join(this.dir, 'logs/error.log')];
  }
}

function readSocket(socketPath: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const call = httpRequest({ socketPath, path, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => resolve(Buffer.concat(chunks).toString()));
    });
    call.on('error', reject);
    call.end();
  });
}
