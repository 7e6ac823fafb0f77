// OCSP responses fetched by the agent and stapled by nginx.
import { execFile } from 'node:child_process';
import { createServer, type ServerResponse } from 'node:http';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { validateResponse, RevokedError } from '@edgeloom/agent/ocsp/validate-response.ts';
import { ocspRequestOf, requestOf, type OcspRequest } from '@edgeloom/agent/ocsp/request.ts';
import { StapleFiles, stapleKey } from '@edgeloom/agent/ocsp/staple-files.ts';
import { Staples } from '@edgeloom/agent/ocsp/staples.ts';
import type { CertDoc } from '@edgeloom/contract/edge/documents.ts';
import { afterAll, describe, expect, test } from 'vitest';
import { createAuthority, type CertificatePair } from '../support/builders/certificate-authority.ts';
import { casesOfRun } from '../support/builders/long-run.ts';
import { startEdge } from '../support/services/edge.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { freePort } from '../support/services/ports.ts';
import { ocspResponse, startResponder, type ResponderOptions } from '../support/fakes/ocsp-responder.ts';

const ca = await createAuthority();
const stranger = await createAuthority();
const edge = await startEdge();
afterAll(() => edge.stop());

function asked(chainPem: string): OcspRequest {
  const question = ocspRequestOf(chainPem);
  if (question === null) throw new Error('nobody to ask');
  return question;
}

describe('an OCSP response', () => {
  const responder = 'http://ocsp.example.com/a';
  const now = new Date();
  const later = (minutes: number) => new Date(now.getTime() + minutes * 60_000);
  async function validate(over: Partial<ResponderOptions>, at = later(1)) {
    const { chainPem } = await ca.issue(['a.example.com'], { responder });
    const question = asked(chainPem);
    const answer = await ocspResponse(requestOf(question), { authority: ca.signer, good: [chainPem], ...over });
    return validateResponse(answer, question, at);
  }

  test('of the authority itself is stapled until it expires', async () => {
    expect((await validate({})).getTime()).toBeGreaterThan(later(58).getTime());
  });
  test('of a delegated responder is stapled', async () => {
    const until = await validate({ signer: await ca.delegate('OCSPSigning') });
    expect(until.getTime()).toBeGreaterThan(later(58).getTime());
  });
  test.each([
    [
      'of somebody who has a certificate of the authority for another purpose',
      'signed',
      () => ca.delegate('serverAuth'),
    ],
    ['of a stranger', 'signed', () => stranger.signer],
    ['of whom a stranger lets answer', 'signed', () => stranger.delegate('OCSPSigning')],
  ])('%s is not stapled', async (_, why, signer) => {
    await expect(validate({ signer: await signer() })).rejects.toThrow(why);
  });
  test('that has expired or is not valid yet is not stapled', async () => {
    await expect(validate({}, later(61))).rejects.toThrow('has expired');
    await expect(validate({}, later(-10))).rejects.toThrow('not valid yet');
  });
  test('with status revoked or unknown is not stapled', async () => {
    const { chainPem } = await ca.issue(['a.example.com'], { responder });
    const question = asked(chainPem);
    const answer = (said: Partial<ResponderOptions>) =>
      ocspResponse(requestOf(question), { authority: ca.signer, ...said });
    const revoked = await answer({ revoked: [chainPem] });
    expect(() => validateResponse(revoked, question, later(1))).toThrow(RevokedError);
    const unknown = await answer({});
    expect(() => validateResponse(unknown, question, later(1))).toThrow('does not know');
  });
  test('for another certificate, modified or invalid is not stapled', async () => {
    const { chainPem } = await ca.issue(['a.example.com'], { responder });
    const other = await ca.issue(['b.example.com'], { responder });
    const question = asked(chainPem);
    const options = { authority: ca.signer, good: [chainPem, other.chainPem] };
    const about = await ocspResponse(requestOf(asked(other.chainPem)), options);
    expect(() => validateResponse(about, question, later(1))).toThrow('another certificate');
    const changed = await ocspResponse(requestOf(question), options);
    // Changes the expiry minute.
    const at = changed.lastIndexOf(Buffer.from('\u0018\u000f20')) + 13;
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
    expect(() => validateResponse(changed, question, later(1))).toThrow('not signed by an authorized');
    for (const text of ['', '0\u0003\n\u0001\u0003', 'hello'])
      expect(() => validateResponse(Buffer.from(text), question, later(1))).toThrow();
  });
});

test('a chain without responder URL or issuer, or with a non-HTTP URL, sends no request', async () => {
  const { chainPem } = await ca.issue(['a.example.com']);
  expect(ocspRequestOf(chainPem)).toBeNull();
  const named = await ca.issue(['a.example.com'], { responder: 'http://ocsp.example.com/' });
  expect(ocspRequestOf(named.chainPem.slice(0, named.chainPem.indexOf('-----END') + 26))).toBeNull();
  expect(ocspRequestOf(named.chainPem.replace(ca.signer.cert, stranger.signer.cert))).toBeNull();
  const odd = await ca.issue(['a.example.com'], { responder: 'file:///etc/passwd' });
  expect(ocspRequestOf(odd.chainPem)).toBeNull();
});

/** The agent's OCSP job on this edge's directory. */
function agent(over: { deny?: boolean } = {}) {
  const files = new StapleFiles(`${edge.dir}/docs`);
  const chains = new Map<string, string>();
  const log: string[] = [];
  const note = (_: string, facts: Record<string, unknown> = {}) => void log.push(String(facts['error']));
  const staples = new Staples({
    files,
    resolve: async (name) => {
      if (over.deny === true) throw new Error('no permitted address');
      return [name];
    },
    authorities: null,
    isReady: () => true,
    chainOf: async (_, key) => chains.get(key) ?? null,
    notifyNginx: (keys) => edge.admin.bump(keys),
    log: { info: note, warn: note, error: note },
  });
  return {
    files,
    log,
    stop: () => staples.stop(),
    remove: (doc: CertDoc) => staples.set(`cert/${doc.id}`, null),
    async follow(doc: CertDoc) {
      for (const { chainPem } of doc.pairs) chains.set(stapleKey(chainPem), chainPem);
      await staples.set(`cert/${doc.id}`, doc);
    },
  };
}

async function served(...pairs: CertificatePair[]): Promise<{ doc: CertDoc; name: string }> {
  const id = randomUUID();
  const doc: CertDoc = {
    kind: 'cert',
    id,
    names: [],
    notAfter: new Date(Date.now() + 86_400_000).toISOString(),
    pairs: pairs.map(({ chainPem, keyPem }) => ({ chainPem, key: edge.seal(keyPem, `cert/${id}`) })),
  };
  await edge.put(doc);
  return { doc, name: (await edge.site({}, { certID: id })).name };
}

/** The stapled certificate status, or nothing. */
async function readStapledStatus(name: string, ...flags: string[]): Promise<string> {
  const at = ['-connect', `127.0.0.1:${edge.ports.https}`, '-servername', name, '-status', ...flags];
  const client = promisify(execFile)('openssl', ['s_client', ...at]);
  client.child.stdin?.end();
  const { stdout } = await client.catch((error: { stdout: string }) => error);
  return /Cert Status: (\w+)/.exec(stdout)?.[1] ?? /no response sent/.exec(stdout)?.[0] ?? stdout;
}

const address = async () => {
  const port = await freePort();
  return { port, responder: `http://127.0.0.1:${port}/` };
};

test('a good status is stapled, also while the responder is down, and after restarts of nginx and agent', async () => {
  const { port, responder } = await address();
  const bought = await ca.issue(['good.example.com'], { responder });
  const { doc, name } = await served(bought);
  const one = agent();
  await one.follow(doc);
  // The responder is down; visitors get the certificate without stapling.
  await eventually(() => expect(one.log).toContain(`connect ECONNREFUSED 127.0.0.1:${port}`));
  expect(await readStapledStatus(name)).toBe('no response sent');
  one.stop();

  const there = await startResponder(port, { authority: ca.signer, good: [bought.chainPem] });
  const two = agent();
  await two.follow(doc);
  await eventually(async () => expect(await readStapledStatus(name)).toBe('good'));
  expect(await readStapledStatus(name, '-tls1_2')).toBe('good');
  await there.stop();
  two.stop();
  await edge.restart();
  expect(await readStapledStatus(name)).toBe('good');
  const three = agent();
  await three.follow(doc);
  expect(await readStapledStatus(name)).toBe('good');
  // Without its document the response is deleted.
  await three.remove(doc);
  expect(await three.files.read(stapleKey(bought.chainPem))).toBeNull();
  expect(await readStapledStatus(name)).toBe('no response sent');
  three.stop();
});

test('an expired response is not stapled, and a revoked certificate loses its response', async () => {
  const { port, responder } = await address();
  const bought = await ca.issue(['revoked.example.com'], { responder });
  const { doc, name } = await served(bought);
  const key = stapleKey(bought.chainPem);
  const { files, ...one } = agent();
  const response = (
    await ocspResponse(requestOf(asked(bought.chainPem)), { authority: ca.signer, good: [bought.chainPem] })
  ).toString('base64');
  await files.write(key, { keyType: 'ecdsa', until: Math.floor(Date.now() / 1000) + 600, response });
  await edge.admin.bump([key]);
  expect(await readStapledStatus(name)).toBe('good');
  await files.write(key, { keyType: 'ecdsa', until: Math.floor(Date.now() / 1000) - 1, response });
  await edge.admin.bump([key]);
  expect(await readStapledStatus(name)).toBe('no response sent');
  const there = await startResponder(port, { authority: ca.signer, revoked: [bought.chainPem] });
  await one.follow(doc);
  await eventually(async () => expect(await files.read(key)).toBeNull());
  expect(await readStapledStatus(name)).toBe('no response sent');
  one.stop();
  await there.stop();
});

test('a certificate without responder URL is served without any request', async () => {
  const { name } = await served(await ca.issue(['plain.example.com']));
  expect(await readStapledStatus(name)).toBe('no response sent');
  expect((await edge.counters())['certFailed'] ?? 0).toBe(0);
});

test('each of two pairs is stapled with its own response, or none', async () => {
  const { port, responder } = await address();
  const pairs = [
    await ca.issue(['two.example.com'], { responder }),
    await ca.issue(['two.example.com'], { responder, rsa: true }),
  ];
  const { doc, name } = await served(...pairs);
  const there = await startResponder(port, { authority: ca.signer, good: pairs.map(({ chainPem }) => chainPem) });
  const one = agent();
  await one.follow(doc);
  await eventually(async () => expect(await readStapledStatus(name)).toBe('good'));
  expect(await readStapledStatus(name, '-sigalgs', 'RSA-PSS+SHA256')).toBe('no response sent');
  expect(await readStapledStatus(name, '-tls1_2', '-cipher', 'ECDHE-RSA-AES128-GCM-SHA256')).toBe('no response sent');
  one.stop();
  await there.stop();
});

describe('a hostile responder', () => {
  const answers: [string, (answer: ServerResponse) => unknown, string][] = [
    ['sends a megabyte', (answer) => answer.end(Buffer.alloc(1 << 20)), 'longer than 20000 bytes'],
    ['answers nonsense', (answer) => answer.end('nonsense'), ''],
    ['leads elsewhere', (answer) => answer.writeHead(302, { location: 'http://10.0.0.1/' }).end(), 'returned 302'],
    ['closes', (answer) => answer.destroy(), 'socket hang up'],
  ];
  test.each(casesOfRun(answers, 2))('that %s has no effect', async (_, behave, why) => {
    const server = createServer((_, answer) => void behave(answer)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const port = Reflect.get(Object(server.address()), 'port');
    const bought = await ca.issue(['hostile.example.com'], { responder: `http://127.0.0.1:${port}/` });
    const { doc, name } = await served(bought);
    const one = agent();
    await one.follow(doc);
    await eventually(() => expect(one.log).toEqual([expect.stringContaining(why)]));
    expect(await readStapledStatus(name)).toBe('no response sent');
    one.stop();
    server.closeAllConnections();
    server.close();
  });
  test('at a denied address is not contacted', async () => {
    const bought = await ca.issue(['inside.example.com'], { responder: 'http://inside.example.com/' });
    const { doc } = await served(bought);
    const one = agent({ deny: true });
    await one.follow(doc);
    await eventually(() => expect(one.log).toEqual(['no permitted address']));
    one.stop();
  });
});
