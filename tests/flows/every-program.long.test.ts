// One of each kind of program that tests start. killed-runs.long.test.ts kills the run of this file at its lines.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startMachine } from '../support/fakes/machine.ts';
import { openChromium } from '../support/services/browser.ts';
import { get, startConnectedNode } from '../support/services/connected-node.ts';
import { controlPlane } from '../support/services/control-plane.ts';
import { ownPostgres } from '../support/services/own-postgres.ts';
import { testDatabase } from '../support/services/shared-services.ts';

vi.setConfig({ testTimeout: 300_000 });

const say = (line: string) => process.stdout.write(`${line}\n`);
const firewall = 'nft add table inet edgeloom && nft list tables && exec cat';

test('a program of each kind starts', async () => {
  say('a control plane starts');
  const plane = await controlPlane({ databaseUrl: await testDatabase() });
  onTestFinished(() => plane.stop());
  say('a node starts');
  const { ports, www } = await startConnectedNode();
  say('a node serves');
  expect((await get(ports.http, www.name)).status).toBe(200);
  say('a PostgreSQL of its own starts');
  const postgres = await ownPostgres();
  onTestFinished(() => postgres.stop());
  say('a browser starts');
  const browser = await openChromium();
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  say('a page opens');
  await page.goto(plane.apis[0]?.url ?? '');
  say('a machine starts');
  const machine = await startMachine();
  onTestFinished(() => machine.stop());
  expect(await machine.read('/etc/os-release')).toContain('Rocky');
  say('a network of its own starts');
  const network = spawn('unshare', ['--net', 'sh', '-c', firewall], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(network, 'exit');
  onTestFinished(async () => {
    network.stdin.end();
    await ended;
  });
  expect(String(await once(network.stdout, 'data'))).toContain('edgeloom');
  say('everything runs');
});
