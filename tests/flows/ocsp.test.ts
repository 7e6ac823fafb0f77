// OCSP stapling from the upload to the TLS handshake, with a real node and responder.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { certificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { changed } from '../support/services/background-work.ts';
import { testAgent, type TestAgent } from '../support/services/agent.ts';
import { createAuthority } from '../support/builders/certificate-authority.ts';
import { unique, type BuiltSite } from '../support/builders/build.ts';
import { controlPlane, type ControlPlane } from '../support/services/control-plane.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { freePorts } from '../support/services/ports.ts';
import { startResponder } from '../support/fakes/ocsp-responder.ts';
import { testDatabase } from '../support/services/shared-services.ts';

let plane: ControlPlane;
let agent: TestAgent;
let site: BuiltSite;
let https = 0;
beforeAll(async () => {
  const [http = 0, secure = 0] = await freePorts(2);
  https = secure;
  plane = await controlPlane({ databaseUrl: await testDatabase() });
  const zone = await plane.build.zone({ ports: [http], tlsPorts: [https] });
  site = await plane.build.site({ product: await plane.build.product({ zone }) });
  const { control, token } = await plane.node(zone);
  agent = await testAgent({ control, token });
  agent.start();
  await changed(plane.installation.db, zone.id, 'zone', `site/${site.id}`);
}, 180_000);
afterAll(async () => {
  await agent.stop();
  await plane.stop();
});

async function readStapledStatus(name: string): Promise<string> {
  const flags = ['-connect', `127.0.0.1:${https}`, '-servername', name, '-status'];
  const client = promisify(execFile)('openssl', ['s_client', ...flags]);
  client.child.stdin?.end();
  const { stdout } = await client.catch((error: { stdout: string }) => error);
  return `${/subject=(.*)/.exec(stdout)?.[1]}, ${/Cert Status: (\w+)/.exec(stdout)?.[1] ?? 'nothing'}`;
}

test('the node fetches and staples OCSP for an uploaded certificate, also after an agent restart', async () => {
  const ca = await createAuthority();
  const [port = 0] = await freePorts(1);
  const name = `${unique('www')}.example.com`;
  const bought = await ca.issue([name], { responder: `http://127.0.0.1:${port}/` });
  const responder = await startResponder(port, { authority: ca.signer, good: [bought.chainPem] });
  const user = plane.as(site.owner);
  const { id } = await plane.build.domain({ site, name });
  const { id: certId } = await user.call(certificates.create, {
    params: site.params,
    body: { source: 'pem', sslName: name, ...bought },
  });
  await user.call(certificates.assign, { params: { ...site.params, certId }, body: { domainIDs: [id] } });
  const good = `CN = ${name}, good`;
  await eventually(async () => expect(await readStapledStatus(name)).toBe(good), { within: 60_000 });

  // nginx keeps stapling without responder and agent, and so does a restarted agent.
  await responder.stop();
  await agent.end('SIGKILL');
  expect(await readStapledStatus(name)).toBe(good);
  agent.start();
  await eventually(() => expect(agent.running).toBe(true));
  expect(await readStapledStatus(name)).toBe(good);
}, 180_000);
