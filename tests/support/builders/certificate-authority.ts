// A test certificate authority based on the openssl program, for uploaded certificates.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface CertificatePair {
  chainPem: string;
  keyPem: string;
}
export interface Signer {
  cert: string;
  key: string;
}
export interface Authority {
  rootPem: string;
  /** The intermediate certificate that signs issued certificates. */
  signer: Signer;
  /** A delegated OCSP signer. `purpose` is its extended key usage; empty means none. */
  delegate: (purpose: string) => Promise<Signer>;
  /** Issues a certificate and key for these names. The chain includes the intermediate certificate. */
  issue: (
    names: string[],
    wish?: { rsa?: boolean; days?: number; responder?: string; issuer?: string },
  ) => Promise<CertificatePair>;
  /** Signs a certificate request and returns the chain. */
  sign: (csrPem: string, names: string[]) => Promise<string>;
  /** Packs a pair as PKCS #12 with a password. `old` uses the encryption of old programs. */
  pkcs12: (bought: CertificatePair, password: string, old?: boolean) => Promise<string>;
}

const keyFlags = (rsa: boolean) => (rsa ? ['rsa:2048'] : ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256']);

export async function createAuthority(): Promise<Authority> {
  const root = await inFolder(newRoot);
  const middle = await inFolder(async (dir) => {
    await request(dir, '/O=Test Authority/CN=Test Intermediate', false);
    const cert = await issue(dir, root, 'basicConstraints=critical,CA:TRUE,pathlen:0', 3650);
    return { cert, key: await read(dir, 'key') };
  });
  const leaf = (names: string[]) => `subjectAltName=${names.map((name) => `DNS:${name}`).join(',')}`;
  const access = (responder?: string, issuer?: string) => {
    const places = [...(responder ? [`OCSP;URI:${responder}`] : []), ...(issuer ? [`caIssuers;URI:${issuer}`] : [])];
    return places.length === 0 ? '' : `\nauthorityInfoAccess=${places.join(',')}`;
  };
  return {
    rootPem: root.cert,
    signer: middle,
    delegate: (purpose) =>
      inFolder(async (dir) => {
        await request(dir, '/CN=Test Responder', false);
        return { cert: await issue(dir, middle, `extendedKeyUsage=${purpose}`, 90), key: await read(dir, 'key') };
      }),
    issue: (names, { rsa = false, days = 90, responder, issuer } = {}) =>
      inFolder(async (dir) => {
        await request(dir, `/CN=${names[0]}`, rsa);
        return {
          chainPem: (await issue(dir, middle, leaf(names) + access(responder, issuer), days)) + middle.cert,
          keyPem: await read(dir, 'key'),
        };
      }),
    sign: (csrPem, names) =>
      inFolder(async (dir) => {
        await writeFile(path.join(dir, 'csr'), csrPem);
        return (await issue(dir, middle, leaf(names), 90)) + middle.cert;
      }),
    pkcs12: ({ chainPem, keyPem }, password, old = false) =>
      inFolder(async (dir) => {
        await Promise.all([writeFile(path.join(dir, 'chain'), chainPem), writeFile(path.join(dir, 'key'), keyPem)]);
        const flags = [
          '-export',
          '-in',
          'chain',
          '-inkey',
          'key',
          '-passout',
          `pass:${password}`,
          '-out',
          'p12',
          ...(old ? ['-legacy'] : []),
        ];
        await run('openssl', ['pkcs12', ...flags], { cwd: dir });
        return (await readFile(path.join(dir, 'p12'))).toString('base64');
      }),
  };
}

async function newRoot(dir: string) {
  const flags = [
    '-x509',
    '-newkey',
    ...keyFlags(false),
    '-nodes',
    '-days',
    '3650',
    '-subj',
    '/O=Test Authority/CN=Test Root',
  ];
  await run('openssl', ['req', ...flags, '-keyout', 'key', '-out', 'cert'], { cwd: dir });
  return { key: await read(dir, 'key'), cert: await read(dir, 'cert') };
}

async function request(dir: string, subject: string, rsa: boolean) {
  await run(
    'openssl',
    ['req', '-newkey', ...keyFlags(rsa), '-nodes', '-subj', subject, '-keyout', 'key', '-out', 'csr'],
    { cwd: dir },
  );
}

async function issue(dir: string, by: Signer, extension: string, days: number): Promise<string> {
  await writeFile(path.join(dir, 'ca.key'), by.key);
  await writeFile(path.join(dir, 'ca.cert'), by.cert);
  await writeFile(path.join(dir, 'ext'), `${extension}\n`);
  const flags = [
    '-req',
    '-in',
    'csr',
    '-CA',
    'ca.cert',
    '-CAkey',
    'ca.key',
    '-CAcreateserial',
    '-days',
    String(days),
    '-extfile',
    'ext',
  ];
  await run('openssl', ['x509', ...flags, '-out', 'cert'], { cwd: dir });
  return read(dir, 'cert');
}

const read = (dir: string, name: string) => readFile(path.join(dir, name), 'utf8');

async function inFolder<T>(work: (dir: string) => Promise<T>): Promise<T> {
  const dir = await mkdtemp(path.join(tmpdir(), 'edgeloom-authority-'));
  try {
    return await work(dir);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
