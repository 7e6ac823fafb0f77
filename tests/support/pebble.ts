// Pebble, the test authority of Let's Encrypt, with its own name server: it loses nonces, validates slowly and forgets
// everything when it ends, as authorities may.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { launch } from '../../deploy/services/program.ts';
import type { Running } from '../../deploy/services/program.ts';
import { authority } from './authority.ts';
import { eventually } from './eventually.ts';
import { freePorts } from './ports.ts';
import { testDir } from './test-dir.ts';

export interface PebbleOptions {
  /** Where it looks for what nodes answer. */
  httpPort: number;
  /** `127.0.0.1:5353`; otherwise every name leads to this machine. */
  nameServer?: string;
  /** It takes accounts only with this. */
  eab?: { kid: string; key: string };
  /** Percent of good nonces that it refuses. */
  lostNonces?: number;
  /** Waits up to some seconds before it looks. */
  slow?: boolean;
  /** Believes everybody. */
  gullible?: boolean;
  /** Asks nobody twice for a proof, as the large authorities do for weeks; else it does half of the time. */
  remembers?: boolean;
}
export interface Pebble {
  /** As an entry of ACME_AUTHORITIES. */
  authority: { name: string; directory: string; rootFile: string; eab?: { kid: string; key: string } };
  stop: () => Promise<void>;
  /** From now on a name leads there, and not to this machine's first address. */
  lead: (name: string, address: string) => Promise<void>;
  /** The authority alone; its name server stays. It comes back knowing nobody. */
  halt: () => Promise<void>;
  start: () => Promise<void>;
}

export async function startPebble(options: PebbleOptions, name = 'Pebble'): Promise<Pebble> {
  const dir = await testDir();
  const [port = 0, management = 0, dns = 0, dnsManagement = 0] = await freePorts(4);
  const ca = await authority();
  const { chainPem, keyPem } = await ca.sell(['localhost']);
  const rootFile = path.join(dir, 'root.pem');
  const { eab } = options;
  const config = {
    pebble: {
      listenAddress: `127.0.0.1:${port}`,
      managementListenAddress: `127.0.0.1:${management}`,
      certificate: path.join(dir, 'cert.pem'),
      privateKey: path.join(dir, 'key.pem'),
      httpPort: options.httpPort,
      tlsPort: 1,
      externalAccountBindingRequired: eab !== undefined,
      ...(eab && { externalAccountMACKeys: { [eab.kid]: eab.key } }),
    },
  };
  await Promise.all([
    writeFile(rootFile, ca.rootPem),
    writeFile(path.join(dir, 'cert.pem'), chainPem),
    writeFile(path.join(dir, 'key.pem'), keyPem),
    writeFile(path.join(dir, 'config.json'), JSON.stringify(config)),
  ]);
  const places = { runDir: path.join(dir, 'run'), logDir: dir };
  const nameServer = options.nameServer ?? `127.0.0.1:${dns}`;
  const running: Running[] = [];
  const program = (kind: string, args: string[], env: Record<string, string> = {}) =>
    launch(
      {
        name: kind,
        command: kind,
        args,
        env: { PATH: process.env['PATH'], ...env },
        stopSignal: 'SIGTERM',
        stopWithinMs: 3000,
      },
      places,
    );
  if (options.nameServer === undefined) {
    const off = ['-http01', '', '-https01', '', '-tlsalpn01', '', '-defaultIPv6', ''];
    running.push(
      await program('pebble-challtestsrv', ['-dns01', nameServer, '-management', `127.0.0.1:${dnsManagement}`, ...off]),
    );
  }
  let pebble: Running | null = null;
  const directory = `https://localhost:${port}/dir`;
  const start = async () => {
    pebble = await program('pebble', ['-config', path.join(dir, 'config.json'), '-strict', '-dnsserver', nameServer], {
      PEBBLE_WFE_NONCEREJECT: String(options.lostNonces ?? 5),
      ...(options.slow !== true && { PEBBLE_VA_NOSLEEP: '1' }),
      ...(options.remembers === true && { PEBBLE_AUTHZREUSE: '100' }),
      ...(options.gullible === true && { PEBBLE_VA_ALWAYS_VALID: '1' }),
    });
    // Its certificate is of an authority that fetch does not know: that it shows one is enough.
    await eventually(async () => {
      const fault = await fetch(directory).then(
        () => '',
        (error: unknown) => String(error instanceof Error ? Reflect.get(Object(error.cause), 'code') : error),
      );
      if (fault === 'ECONNREFUSED') throw new Error('pebble does not listen');
    });
  };
  await start();
  return {
    authority: { name, directory, rootFile, ...(eab && { eab }) },
    start,
    halt: async () => pebble?.stop(),
    async lead(name, address) {
      const body = JSON.stringify({ host: `${name}.`, addresses: [address] });
      const { ok } = await fetch(`http://127.0.0.1:${dnsManagement}/add-a`, { method: 'POST', body });
      if (!ok) throw new Error('the name server does not take it');
    },
    async stop() {
      await pebble?.stop();
      await Promise.all(running.map((one) => one.stop()));
    },
  };
}
