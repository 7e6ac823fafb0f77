// Tests with nginx itself whether a zone's configuration is valid. Testing already runs parts of it, so it runs without
// privileges, network and other processes, for a limited time.
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, chown, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findNginx } from '@edgeloom/agent/host.ts';
import { selfSigned, zonePair } from '@edgeloom/agent/nginx/self-signed.ts';
import { detectCapabilities, type Capabilities } from '@edgeloom/agent/render/capabilities.ts';
import type { ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import { FIRST_KEY } from '@edgeloom/contract/edge/sealed.ts';
import { forms, rendered, type Form } from './rendered.ts';

const run = promisify(execFile);

const SECONDS = 10;
const MEMORY = 3 * 1024 ** 3;
/** An unprivileged uid that can read none of our files. */
const NOBODY = 65_534;
const AT_ONCE = 2;

export interface JailAnswer {
  form: Form;
  state: 'passed' | 'failed' | 'missing';
  /** The tested nginx, or why there is none. */
  nginx: string;
  tookMs: number;
  /** nginx's error. Paths are reduced to our file names. */
  fault: { file: string; line: number; message: string } | null;
}

/** One result for each form of tree. */
export async function askNginx(binary: string, zone: ZoneDoc, lua: string): Promise<JailAnswer[]> {
  let found: { file: string; capabilities: Capabilities };
  try {
    const file = await findNginx(binary);
    // Module files depend on the machine. WebP is converted outside nginx.
    found = { file, capabilities: { ...(await detectCapabilities(file)), webp: true, http3: false } };
    if (!found.capabilities.lua) throw new Error(`${file} has no Lua module`);
    await run(...jailed(['true']));
  } catch (error) {
    const why = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    return forms.map((form) => ({ form, state: 'missing', nginx: why, tookMs: 0, fault: null }));
  }
  const { file, capabilities } = found;
  const asked = forms.filter((form) => form !== 'forwards' || capabilities.stream);
  const answers: JailAnswer[] = [];
  // Sequentially: the first error usually applies to all forms.
  for (const form of asked) answers.push(await inTurn(() => ask(file, form, zone, lua, capabilities)));
  return answers;
}

async function ask(
  binary: string,
  form: Form,
  zone: ZoneDoc,
  lua: string,
  capabilities: Capabilities,
): Promise<JailAnswer> {
  const dir = await mkdtemp(path.join(tmpdir(), 'edgeloom-jail-'));
  const began = performance.now();
  const answer = { form, nginx: `${capabilities.openresty ? 'OpenResty' : 'nginx'} ${capabilities.version}` };
  try {
    await furnish(dir, rendered(form, unprivileged(zone), { dir, luaDir: path.join(dir, 'lua'), capabilities }), lua);
    const conf = path.join(dir, 'conf/nginx.conf');
    await run(...jailed([binary, '-t', '-q', '-p', dir, '-e', path.join(dir, 'logs/error.log'), '-c', conf]), {
      timeout: 2 * SECONDS * 1000,
      killSignal: 'SIGKILL',
      cwd: '/',
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    });
    return { ...answer, state: 'passed', tookMs: Math.round(performance.now() - began), fault: null };
  } catch (error) {
    const text = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
    return { ...answer, state: 'failed', tookMs: Math.round(performance.now() - began), fault: read(text, dir) };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** Unprivileged users cannot open ports below 1024. */
const unprivileged = (zone: ZoneDoc): ZoneDoc => ({
  ...zone,
  ports: zone.ports.map((port, i) => ({ ...port, port: 20_000 + i })),
});

async function furnish(dir: string, tree: ReadonlyMap<string, string>, lua: string): Promise<void> {
  const owned = ['', 'conf', 'run', 'logs', 'cache', 'tmp', 'keys', 'docs'].map((name) => path.join(dir, name));
  for (const folder of owned) await mkdir(folder, { recursive: true });
  await cp(lua, path.join(dir, 'lua'), { recursive: true });
  const fallback = selfSigned('fallback.invalid');
  const key = randomBytes(32);
  const relay = zonePair(key);
  const files = [
    ...Array.from(tree, ([name, text]) => [`conf/${name}`, text] as const),
    ['keys/zone.keys', `${FIRST_KEY} ${key.toString('base64')}\n`],
    ['keys/fallback.pem', fallback.cert],
    ['keys/fallback.key', fallback.key],
    ['keys/relay.pem', relay.cert],
    ['keys/relay.key', relay.key],
  ] as const;
  for (const [name, text] of files) await writeFile(path.join(dir, name), text, { mode: 0o644 });
  if (process.getuid?.() === 0) for (const folder of owned) await chown(folder, NOBODY, NOBODY);
  await chmod(dir, 0o755);
}

/** Separate namespaces, no privileges, little time and memory. */
function jailed(command: string[]): [string, string[]] {
  const isRoot = process.getuid?.() === 0;
  const limits = [`--cpu=${SECONDS}`, `--as=${MEMORY}`, '--fsize=67108864', '--nofile=4096', '--core=0'];
  const nobody = isRoot ? [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--bounding-set=-all'] : [];
  const apart = ['--net', '--mount', '--pid', '--ipc', '--uts', '--fork', '--kill-child', '--'];
  const powerless = ['setpriv', ...nobody, '--inh-caps=-all', '--no-new-privs', '--', 'prlimit', ...limits, '--'];
  return ['unshare', [...(isRoot ? [] : ['--user', '--map-current-user']), ...apart, ...powerless, ...command]];
}

/** Parses `nginx: [emerg] … in <file>:<line>` and removes the directory. */
function read(text: string, dir: string): JailAnswer['fault'] {
  const line = text.split('\n').find((one) => /\[(?:emerg|crit|alert|error)\]/.test(one)) ?? text.split('\n')[0] ?? '';
  const [, message = line, file = '', number = '0'] = /\] (.*?)(?: in (\S+):(\d+))?$/.exec(line) ?? [];
  const plain = message.replaceAll(`${dir}/`, '').replace(/^\d+#\d+: /, '');
  return { file: path.basename(file), line: Number(number), message: plain.slice(0, 500) || 'it ran out of time' };
}

let running = 0;
const waiting: (() => void)[] = [];
async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  else running += 1;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}

/** Beside the renderer. */
export const findLua = (): string => fileURLToPath(new URL('../lua', import.meta.resolve('@edgeloom/agent/main.ts')));
