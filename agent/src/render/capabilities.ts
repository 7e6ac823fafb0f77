// The capabilities of this machine's nginx. Debian loads modules from files, OpenResty has them built in.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { canConvert } from '../images/library.ts';

const run = promisify(execFile);

export type Capabilities = {
  version: string;
  openresty: boolean;
  /** Files for load_module, in order of their dependencies. */
  modules: string[];
  lua: boolean;
  stream: boolean;
  /** PROXY protocol of visitors in stream. */
  streamRealip: boolean;
  /** Needed to give simulated requests a client address. */
  realip: boolean;
  brotli: boolean;
  /** WebP conversion: the image library is installed beside the agent. */
  webp: boolean;
  /** Large files in slices. */
  slice: boolean;
  geoip2: boolean;
  /** The cache keeps space on its disk free (`min_free` of proxy_cache_path). */
  minFree: boolean;
  /** How HTTP/2 is enabled: a flag of `listen`, a directive since 1.25.1, or not at all. */
  http2: 'listen' | 'directive' | 'none';
  /** Only where connections survive a reload. */
  http3: boolean;
  /** balancer.enable_keepalive with a pool per server name. Without it HTTPS origins get a connection per request. */
  poolPerName: boolean;
};

/** Load order: ndk before lua, the stream core before its modules. */
const wanted = [
  'ndk_http_module.so',
  'ngx_http_lua_module.so',
  'ngx_http_brotli_filter_module.so',
  'ngx_http_geoip2_module.so',
  'ngx_stream_module.so',
  'ngx_stream_geoip2_module.so',
];

export async function detectCapabilities(nginx: string): Promise<Capabilities> {
  const { stderr } = await run(nginx, ['-V']);
  const read = (path: string) => readFileSync(path, 'utf8');
  const found = readCapabilities(stderr, { exists: existsSync, read });
  return { ...found, http3: found.http3 && mayRoutePackets(read('/proc/self/status')), webp: canConvert() };
}

/**
 * To keep QUIC connections across reloads, nginx loads a BPF program and does not start where it may not.
 * Capability 12: CAP_NET_ADMIN, 21: CAP_SYS_ADMIN, 39: CAP_BPF.
 */
export function mayRoutePackets(processStatus: string): boolean {
  const held = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(processStatus)?.[1] ?? '0'}`);
  const has = (bit: bigint) => ((held >> bit) & 1n) === 1n;
  return has(21n) || (has(39n) && has(12n));
}

/** Separate from running nginx, so that tests can use OpenResty's output. */
export function readCapabilities(
  banner: string,
  disk: { exists: (path: string) => boolean; read: (path: string) => string },
): Omit<Capabilities, 'webp'> {
  const found = /nginx version: (openresty|nginx)\/(\d+)\.(\d+)\.(\d+)/.exec(banner);
  if (found === null) throw new Error(`unexpected output of nginx -V: ${banner.slice(0, 200)}`);
  const [, kind, major = '0', minor = '0', patch = '0'] = found;
  const openresty = kind === 'openresty';
  const argument = (name: string) => new RegExp(`--${name}=(\\S+)`).exec(banner)?.[1] ?? null;
  const prefix = argument('prefix') ?? '/usr/local/nginx';
  const moduleDir = argument('modules-path') ?? join(prefix, 'modules');
  const modules = wanted.map((file) => join(moduleDir, file)).filter((path) => disk.exists(path));
  const has = (file: string, builtIn: RegExp) =>
    modules.some((path) => path.endsWith(`/${file}`)) || builtIn.test(banner);
  const balancer = [join(dirname(prefix), 'lualib/ngx/balancer.lua'), '/usr/share/lua/5.1/ngx/balancer.lua'].find(
    (path) => disk.exists(path),
  );
  const newer = [Number(major), Number(minor), Number(patch)];
  const since = (...wantedVersion: number[]) => {
    const i = wantedVersion.findIndex((part, at) => part !== newer[at]);
    return i < 0 || (newer[i] ?? 0) > (wantedVersion[i] ?? 0);
  };
  return {
    version: newer.join('.'),
    openresty,
    modules,
    lua: has('ngx_http_lua_module.so', /ngx_lua/),
    stream: has('ngx_stream_module.so', /--with-stream(?!=dynamic)\b/),
    streamRealip: banner.includes('--with-stream_realip_module'),
    realip: banner.includes('--with-http_realip_module'),
    brotli: has('ngx_http_brotli_filter_module.so', /ngx_brotli/),
    slice: banner.includes('--with-http_slice_module'),
    geoip2: has('ngx_http_geoip2_module.so', /geoip2/),
    minFree: since(1, 19, 1),
    http2: !banner.includes('--with-http_v2_module') ? 'none' : since(1, 25, 1) ? 'directive' : 'listen',
    // Experimental before 1.26, and unknown to Lua.
    http3: banner.includes('--with-http_v3_module') && since(1, 26, 0),
    poolPerName: balancer !== undefined && disk.read(balancer).includes('enable_keepalive'),
  };
}
