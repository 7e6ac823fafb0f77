// The machine that the agent runs on: its folders, programs and addresses, prepared for serving.
import { readFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import path from 'node:path';
import type { Env } from '../env.ts';
import { findNginx, findWorkers, readHost } from '../host.ts';
import { openLayout, prepareLayout } from '../layout.ts';
import type { Layout, Workers } from '../layout.ts';
import { lockDirectory } from '../lock.ts';
import type { Log } from '../log.ts';
import { selfSigned } from '../nginx/self-signed.ts';
import { createLookUp } from '../origins/addresses.ts';
import type { LookUp } from '../origins/addresses.ts';
import type { HostFacts } from '../render/input.ts';
import { writeWhole } from '../store/durable.ts';
import { driversFor, Firewall } from './firewall/firewall.ts';

export interface Machine {
  layout: Layout;
  /** Null unless the agent is root. */
  workers: Workers | null;
  /** The program. */
  nginx: string;
  host: HostFacts;
  firewall: Firewall;
  /** Certificate authorities that origins and OCSP responders are checked by. Null when this machine has none. */
  authorities: string | null;
  /** Resolves names of origins. */
  lookUp: LookUp;
  /** Releases the lock on the node's directory. */
  unlock: () => void;
}

export async function prepareMachine(env: Env, log: Log): Promise<Machine> {
  const layout = await openLayout(env.EDGELOOM_DIR);
  // Files we create are readable by us and the workers' group, whatever umask we inherited.
  process.umask(0o027);
  const unlock = await lockDirectory(layout.dir);
  const workers = await findWorkers();
  await prepareLayout(layout, workers);
  await ensureFallbackCertificate(layout);
  const nginx = await findNginx(env.EDGELOOM_NGINX);
  const firewall = await Firewall.open(log, driversFor(env));
  const host = { ...(await readHost(env, nginx, layout, workers)), refuses: !firewall.canDrop };
  const authorities = host.caBundle === null ? null : await readFile(host.caBundle, 'utf8').catch(() => null);
  const lookUp = createLookUp(host.resolvers);
  return { layout, workers, nginx, host, firewall, authorities, lookUp, unlock };
}

/** For visitors without SNI or with an unknown name. */
async function ensureFallbackCertificate({ keys }: Layout): Promise<void> {
  const cert = path.join(keys, 'fallback.pem');
  const key = path.join(keys, 'fallback.key');
  if ((await readFile(cert).catch(() => null)) !== null) return;
  const pair = selfSigned('edge.invalid');
  // The certificate is written last: its presence means that the key exists.
  await writeWhole(key, pair.key, 0o600);
  await writeWhole(cert, pair.cert, 0o600);
}

/** Loopback is left out: the firewall accepts it anyway. */
export const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((list = []) =>
    list.filter(({ internal }) => !internal).map(({ address }) => address),
  );

/** Where the agent reaches its own nginx. The first address is the one nearest to the control plane. */
export function ownAddress([first = '0.0.0.0']: readonly string[]): string {
  if (first === '0.0.0.0') return '127.0.0.1';
  return first === '[::]' ? '::1' : first.replace(/^\[|\]$/g, '');
}
