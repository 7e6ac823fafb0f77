// Pebble, the ACME test server of Let's Encrypt, with its own DNS server. It loses nonces, validates slowly and forgets
// everything on exit.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { launch } from '../../../deploy/services/program.ts';
import type { Running } from '../../../deploy/services/program.ts';
import { createAuthority } from '../builders/certificate-authority.ts';
import { eventually } from '../assertions/eventually.ts';
import { freePorts } from './ports.ts';
import { testDir } from './test-dir.ts';
export { openAccount } from '@edgeloom/api/acme/client.ts';

export interface PebbleOptions {
  /** Port on which Pebble validates HTTP-01. */
  httpPort: number;
  /** DNS server, such as `127.0.0.1:5353`. By default every name resolves to this machine. */
  nameServer?: string;
  /** Required external account binding. */
  eab?: { kid: string; key: string };
  /** Percentage of valid nonces that Pebble rejects. */
  rejectedNoncesPercent?: number;
  /** Waits a few seconds before it validates. */
  slow?: boolean;
  /** Accepts every challenge without validation. */
  acceptsEveryChallenge?: boolean;
  /** Always reuses valid authorizations, as large authorities do. By default Pebble reuses half of them. */
  reusesAuthorizations?: boolean;
}
export interface Pebble {
  /** Entry of ACME_AUTHORITIES. */
  authority: { name: string; directory: string; rootFile: string; eab?: { kid: string; key: string } };
  stop: () => Promise<void>;
  /** Resolves a name to this address from now on. */
  resolveName: (name: string, address: string) => Promise<void>;
  /** Stops Pebble but not its DNS server. A restarted Pebble has no accounts. */
  stopAuthority: () => Promise<void>;
  start: () => Promise<void>;
}

export async function startPebble(options: PebbleOptions, name = 'Pebble'): Promise<Pebble> {
  const dir = await testDir();
  const [port = 0, management = 0, dns = 0, dnsManagement = 0] = await freePorts(4);
  const ca = await createAuthority();
  const { chainPem, keyPem } = await ca.issue(['localhost']);
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
      PEBBLE_WFE_NONCEREJECT: String(options.rejectedNoncesPercent ?? 5),
      ...(options.slow !== true && { PEBBLE_VA_NOSLEEP: '1' }),
      ...(options.reusesAuthorizations === true && { PEBBLE_AUTHZREUSE: '100' }),
      ...(options.acceptsEveryChallenge === true && { PEBBLE_VA_ALWAYS_VALID: '1' }),
    });
    // fetch does not trust Pebble's certificate. A certificate error proves that Pebble is up.
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
    stopAuthority: async () => pebble?.stop(),
    async resolveName(name, address) {
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
