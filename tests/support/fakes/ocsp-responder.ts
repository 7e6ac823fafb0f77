// An OCSP responder based on the openssl program.
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Signer } from '../builders/certificate-authority.ts';
import { testDir } from '../services/test-dir.ts';

const run = promisify(execFile);

export interface ResponderOptions {
  /** Issuer of the certificates. */
  authority: Signer;
  /** The signer, by default the authority itself. */
  signer?: Signer;
  good?: string[];
  revoked?: string[];
}

async function folder({ authority, signer = authority, good = [], revoked = [] }: ResponderOptions): Promise<string> {
  const dir = await testDir();
  const row = (mark: string) => (chainPem: string) => {
    const { serialNumber } = new X509Certificate(chainPem);
    return `${mark}\t400101000000Z\t${mark === 'R' ? '200101000000Z' : ''}\t${serialNumber}\tunknown\t/CN=${serialNumber}\n`;
  };
  await Promise.all([
    writeFile(path.join(dir, 'index'), [...good.map(row('V')), ...revoked.map(row('R'))].join('')),
    writeFile(path.join(dir, 'ca'), authority.cert),
    writeFile(path.join(dir, 'cert'), signer.cert),
    writeFile(path.join(dir, 'key'), signer.key),
  ]);
  return dir;
}

const flags = ['ocsp', '-index', 'index', '-CA', 'ca', '-rsigner', 'cert', '-rkey', 'key', '-nmin', '60'];

/** The response to an OCSP request. */
export async function ocspResponse(question: Buffer, said: ResponderOptions): Promise<Buffer<ArrayBuffer>> {
  const dir = await folder(said);
  await writeFile(path.join(dir, 'question'), question);
  await run('openssl', [...flags, '-reqin', 'question', '-respout', 'answer'], { cwd: dir });
  return readFile(path.join(dir, 'answer'));
}

export interface Responder {
  stop: () => Promise<void>;
}

export async function startResponder(port: number, said: ResponderOptions): Promise<Responder> {
  const child: ChildProcess = spawn('openssl', [...flags, '-port', String(port)], {
    cwd: await folder(said),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  // Wait for the startup message: a mere test connection would block the responder.
  if (child.stderr) await once(child.stderr, 'data');
  return {
    async stop() {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}
