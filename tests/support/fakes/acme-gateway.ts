// A gateway in front of an ACME authority, which loses or refuses requests.
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { createServer, request } from 'node:https';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { createAuthority } from '../builders/certificate-authority.ts';
import { freePort } from '../services/ports.ts';
import type { Pebble } from '../services/pebble.ts';
import { testDir } from '../services/test-dir.ts';

interface Problem {
  type: string;
  detail: string;
  /** Default: 500. */
  status?: number;
  retryAfter?: number;
}
/** A status, a problem document, or null for the response of the authority. */
type Decision = 'close' | number | Problem | null;

export async function startAcmeGateway(
  behind: Pebble['authority'],
  decide: (request: Pick<IncomingMessage, 'method' | 'url'>) => Decision,
  name = 'Gateway',
) {
  const ca = await createAuthority();
  const { chainPem, keyPem } = await ca.issue(['localhost']);
  const rootFile = path.join(await testDir(), 'root.pem');
  await writeFile(rootFile, ca.rootPem);
  const rootOfAuthority = await readFile(behind.rootFile);
  const { port: portOfAuthority } = new URL(behind.directory);
  const port = await freePort();
  let requests = 0;
  const server = createServer({ cert: chainPem, key: keyPem }, (incoming, response) => {
    requests += 1;
    const decision = decide(incoming);
    if (decision === 'close') incoming.socket.destroy();
    else if (typeof decision === 'number') response.writeHead(decision).end();
    else if (decision !== null) {
      const { status = 500, retryAfter, ...problem } = decision;
      if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter);
      response.writeHead(status, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem));
    } else {
      const { method, url: target, headers } = incoming;
      const options = { host: 'localhost', port: portOfAuthority, path: target, method, headers, ca: rootOfAuthority };
      const outgoing = request(options, (reply) => {
        response.writeHead(reply.statusCode ?? 502, reply.headers);
        reply.pipe(response);
      });
      outgoing.on('error', () => incoming.socket.destroy());
      incoming.pipe(outgoing);
    }
  }).listen(port, '127.0.0.1');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, 'listening');
  return { authority: { name, directory: `https://localhost:${port}/dir`, rootFile }, requests: () => requests };
}
