// Read-only commands: the real code paths without the last steps.
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sha256 } from '@edgeloom/contract/edge/digest.ts';
import { checkDoc, servesLayer, zoneFor } from '@edgeloom/contract/edge/documents.ts';
import type { EdgeDoc } from '@edgeloom/contract/edge/documents.ts';
import { diffFiles } from './diff.ts';
import type { Env } from './env.ts';
import { choose, namesIn } from './forwards/choose.ts';
import { Names } from './forwards/names.ts';
import { forwardsTree, readNote } from './forwards/tree.ts';
import { findNginx, findWorkers, readHost } from './host.ts';
import { layoutOf } from './layout.ts';
import type { Layout, NginxLayout } from './layout.ts';
import { readIdentity } from './link/identity.ts';
import { reason, stderrLog } from './log.ts';
import { canDrop, driversFor } from './machine/firewall/firewall.ts';
import { nodeTree } from './nginx/node-tree.ts';
import { Nginx } from './nginx/supervisor.ts';
import { Trees } from './nginx/trees.ts';
import type { Tree } from './nginx/trees.ts';
import { createLookUp } from './origins/addresses.ts';
import { closedBecause } from './plan.ts';
import { documentFiles } from './store/documents.ts';
import { decodeDocFile } from './store/files.ts';
import { parseManifest } from './store/manifest.ts';

/** Names beyond this number are only counted. */
const MAX_SHOWN = 50;

interface Folder {
  /** Without `doc` when only a later version of the agent understands it. */
  docs: Map<string, { revision: number; sha256: string; doc: EdgeDoc | null }>;
  faults: string[];
}

/** The changes that `documents` would make to the documents on disk and to the served nginx files. */
export async function planDocuments(env: Env, documents: string | null): Promise<string[]> {
  const layout = layoutOf(path.resolve(env.EDGELOOM_DIR));
  const own = await readFolder(layout.docs);
  const wanted = documents === null ? own : await readFolder(path.resolve(documents));
  if (wanted.faults.length > 0) throw new Error(wanted.faults.join('\n'));
  const [http, forwards] = await Promise.all([current(layout), current(layout.forwards)]);
  const tree = await renderAll(env, layout, wanted, http.generation ?? 1, forwards.generation ?? 1);
  const serving = withForwards(http.tree, forwards.tree);
  const changes = [...documentChanges(own, wanted), ...diffFiles(serving, tree)];
  return changes.length > 0 ? changes : ['nothing would change'];
}

async function current({ conf }: NginxLayout): Promise<{ generation: number | null; tree: Tree }> {
  const trees = new Trees(conf);
  const generation = await trees.marked('current');
  return { generation, tree: generation === null ? new Map() : await trees.read(generation) };
}

export async function renderInto(env: Env, documents: string, out: string): Promise<string[]> {
  const folder = await readFolder(path.resolve(documents));
  if (folder.faults.length > 0) throw new Error(folder.faults.join('\n'));
  const tree = await renderAll(env, layoutOf(path.resolve(env.EDGELOOM_DIR)), folder, 1);
  const target = path.resolve(out);
  if ((await stat(target).catch(() => null)) !== null) throw new Error(`${target} is there already`);
  await new Trees(path.dirname(target)).stage(path.basename(target), tree);
  return [...tree.keys()].map((name) => path.join(target, name));
}

/**
 * Whether the documents on disk are intact and nginx accepts their rendering.
 * A running agent may change the manifest during the check.
 */
export async function checkDocuments(env: Env, beside: boolean): Promise<{ lines: string[]; ok: boolean }> {
  const layout = layoutOf(path.resolve(env.EDGELOOM_DIR));
  const folder = await readFolder(layout.docs);
  const faults = [...folder.faults, ...(beside ? [] : await manifestFaults(layout, folder))];
  const lines = [`${folder.docs.size} documents`];
  if (folder.docs.has('zone')) {
    try {
      const capabilities = await testWithNginx(env, layout, folder);
      lines.push(`nginx ${capabilities} takes them`);
    } catch (error) {
      faults.push(`nginx: ${reason(error)}`);
    }
  } else faults.push('there is no zone document: nothing would be served');
  const more = faults.length > MAX_SHOWN ? [`and ${faults.length - MAX_SHOWN} more`] : [];
  return { lines: [...lines, ...faults.slice(0, MAX_SHOWN), ...more], ok: faults.length === 0 };
}

async function testWithNginx(env: Env, layout: Layout, folder: Folder): Promise<string> {
  const binary = await findNginx(env.EDGELOOM_NGINX);
  const host = await readHost(env, binary, layout, await findWorkers());
  const tree = await renderAll(env, layout, folder, 1);
  const dir = await mkdtemp(path.join(tmpdir(), 'edgeloom-check-'));
  try {
    const trees = new Trees(dir);
    await trees.stage('1', tree);
    await new Nginx(binary, layout, stderrLog).test(trees.confFile('1'));
    if (tree.has(FORWARDS)) await new Nginx(binary, layout.forwards, stderrLog).test(path.join(dir, '1', FORWARDS));
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
  return host.capabilities.version;
}

/** The files of both nginx instances. Those of the second one are in a folder of their own. */
async function renderAll(
  env: Env,
  layout: Layout,
  { docs }: Folder,
  generation: number,
  forwardsGeneration = generation,
): Promise<Tree> {
  const all = [...docs.values()].flatMap(({ doc }) => doc ?? []);
  const published = all.find((doc) => doc.kind === 'zone');
  if (published === undefined) throw new Error('there is no zone document');
  const identity = await readIdentity(layout);
  const trial = all.find((doc) => doc.kind === 'trial') ?? null;
  const zone = zoneFor(identity?.nodeID ?? '', published, trial);
  const nodes = all.filter((doc) => doc.kind === 'node');
  const node = nodes.find(({ id }) => id === identity?.nodeID) ?? (nodes.length === 1 ? nodes[0] : undefined) ?? null;
  const binary = await findNginx(env.EDGELOOM_NGINX);
  const hostFacts = await readHost(env, binary, layout, await findWorkers());
  const host = { ...hostFacts, refuses: !(await canDrop(driversFor(env))) };
  const now = new Date();
  const effectiveNode = node && { ...node, enabled: servesLayer(node, '7', now) };
  const tree = await nodeTree({ zone, node: effectiveNode }, generation, host);
  const ports = all.filter((doc) => doc.kind === 'port');
  if (ports.length === 0 || !servesLayer(node, '4', now) || !host.capabilities.stream) return tree;
  const names = new Names(createLookUp(host.resolvers), () => undefined);
  names.remember((await readNote(new Trees(layout.forwards.conf))).names);
  await names.follow(namesIn(ports));
  const addressesOf = (name: string) => names.of(name);
  const { forwards } = choose(ports, { zone, addressesOf, capabilities: host.capabilities });
  const { dir } = layout.forwards;
  return withForwards(tree, forwardsTree({ forwards, zone, addressesOf, generation: forwardsGeneration, host, dir }));
}

const FORWARDS = 'forwards/nginx.conf';
const withForwards = (http: Tree, forwards: Tree): Tree =>
  new Map([...http, ...Array.from(forwards, ([name, text]) => [`forwards/${name}`, text] as const)]);

async function readFolder(dir: string): Promise<Folder> {
  const folder: Folder = { docs: new Map(), faults: [] };
  const files = await documentFiles(dir).catch(() => {
    throw new Error(`${dir} cannot be read`);
  });
  for (const { key, file } of files) {
    try {
      const { revision, body } = decodeDocFile(await readFile(file));
      const checkedDoc = checkDoc(key, body);
      folder.docs.set(key, { revision, sha256: sha256(body), doc: 'doc' in checkedDoc ? checkedDoc.doc : null });
      if ('closed' in checkedDoc) folder.faults.push(`${key}: ${closedBecause(checkedDoc.closed)}`);
    } catch (error) {
      folder.faults.push(`${key}: ${reason(error)}`);
    }
  }
  return folder;
}

async function manifestFaults({ docs: dir }: Layout, { docs }: Folder): Promise<string[]> {
  const manifest = parseManifest(await readFile(path.join(dir, 'manifest')).catch(() => Buffer.alloc(0)));
  if (manifest === null) return ['the manifest cannot be read, the next start rebuilds it'];
  const listed = manifest.inventory.docs;
  const missing = [...listed.keys()]
    .filter((key) => !docs.has(key))
    .map((key) => `${key}: the file is missing or damaged`);
  const differing = [...docs].flatMap(([key, { revision, sha256: hash }]) => {
    const noted = listed.get(key);
    if (noted === undefined) return [`${key}: not in the manifest`];
    return noted.revision === revision && noted.sha256 === hash
      ? []
      : [`${key}: of revision ${revision}, not ${noted.revision}`];
  });
  return [...missing, ...differing];
}

function documentChanges(own: Folder, wanted: Folder): string[] {
  const lines = [
    ...[...wanted.docs].flatMap(([key, { sha256: hash }]) => {
      const before = own.docs.get(key);
      return before === undefined ? [`+ ${key}`] : before.sha256 === hash ? [] : [`~ ${key}`];
    }),
    ...[...own.docs.keys()].filter((key) => !wanted.docs.has(key)).map((key) => `- ${key}`),
  ];
  return lines.length > MAX_SHOWN
    ? [...lines.slice(0, MAX_SHOWN), `and ${lines.length - MAX_SHOWN} more documents`]
    : lines;
}
