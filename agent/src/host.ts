// Facts about this machine: the user of workers, name servers, capabilities of nginx.
import { constants, existsSync } from 'node:fs';
import { access, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Env } from './env.ts';
import type { Layout, Workers } from './layout.ts';
import { detectCapabilities } from './render/capabilities.ts';
import type { HostFacts } from './render/input.ts';

export async function readHost(env: Env, nginx: string, layout: Layout, workers: Workers | null): Promise<HostFacts> {
  const [capabilities, resolvConf, ipv6] = await Promise.all([
    detectCapabilities(nginx),
    readFile('/etc/resolv.conf', 'utf8').catch(() => ''),
    // Without an IPv6 address nginx would not start.
    readFile('/proc/net/if_inet6', 'utf8').catch(() => ''),
  ]);
  return {
    dir: layout.dir,
    luaDir: findLua(),
    listen: env.EDGELOOM_LISTEN ?? (ipv6 === '' ? ['0.0.0.0'] : ['0.0.0.0', '[::]']),
    user: workers?.user ?? null,
    capabilities,
    resolvers: nameServers(resolvConf),
    ...(env.EDGELOOM_DEMO_VISITORS === 'on' && capabilities.realip && { hasDemoVisitors: true }),
    caBundle: env.EDGELOOM_CA_FILE ?? bundles.find((file) => existsSync(file)) ?? null,
  };
}

/** Where distributions keep trusted certificate authorities. */
const bundles = ['/etc/ssl/certs/ca-certificates.crt', '/etc/pki/tls/certs/ca-bundle.crt', '/etc/ssl/cert.pem'];

/** Servers are in sbin, which may be missing in PATH. OpenResty has another prefix. */
export async function findNginx(name: string): Promise<string> {
  if (name.includes('/')) return path.resolve(name);
  const folders = [
    ...(process.env['PATH'] ?? '').split(':').filter((folder) => folder !== ''),
    '/usr/local/sbin',
    '/usr/sbin',
    '/usr/local/openresty/nginx/sbin',
  ];
  for (const folder of folders) {
    const file = path.join(folder, name);
    if (
      await access(file, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return file;
  }
  throw new Error(`${name} is in none of ${folders.join(', ')}: install it or set EDGELOOM_NGINX`);
}

/** nginx uses the group named like the user, so one must exist. Debian's nobody has none. Null unless root. */
export async function findWorkers(): Promise<Workers | null> {
  if (process.getuid?.() !== 0) return null;
  const [users, groups] = await Promise.all([readFile('/etc/passwd', 'utf8'), readFile('/etc/group', 'utf8')]);
  for (const name of ['nginx', 'www-data', 'nobody']) {
    const uid = idOf(users, name);
    const gid = idOf(groups, name);
    if (uid !== null && gid !== null) return { user: name, uid, gid };
  }
  throw new Error('there is no user nginx, www-data or nobody with a group of that name for the workers to run as');
}

function idOf(table: string, name: string): number | null {
  const line = table.split('\n').find((row) => row.startsWith(`${name}:`));
  const id = Number(line?.split(':')[2] ?? Number.NaN);
  return Number.isInteger(id) ? id : null;
}

/** In nginx's notation. Scopes of link-local addresses are removed, since nginx does not accept them. */
export function nameServers(resolvConf: string): string[] {
  const found = resolvConf.split('\n').flatMap((line) => /^\s*nameserver\s+([^\s%#;]+)/.exec(line)?.[1] ?? []);
  const servers = found.map((address) => (address.includes(':') ? `[${address}]` : address));
  return servers.length > 0 ? [...new Set(servers)] : ['127.0.0.1'];
}

/** Beside the bundle, or in the repository. */
function findLua(): string {
  const here = path.dirname(fileURLToPath(import.meta.url));
  const places = [path.join(here, 'lua'), path.join(here, '../lua')];
  const found = places.find((place) => existsSync(path.join(place, 'edge')));
  if (found === undefined) throw new Error(`no Lua in ${places.join(' or ')}`);
  return found;
}
