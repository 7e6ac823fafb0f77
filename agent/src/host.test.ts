import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { Env, readEnv } from './env.ts';
import { nameServers } from './host.ts';

test('name servers are read as nginx writes them, and without any the own machine is asked', () => {
  const text =
    '# made by hand\nsearch example.com\nnameserver 10.0.0.2\n nameserver fe80::1%eth0 # router\nnameserver 10.0.0.2\n';
  expect(nameServers(text)).toEqual(['10.0.0.2', '[fe80::1]']);
  expect(nameServers('')).toEqual(['127.0.0.1']);
});

test('an empty variable counts as one that is not set, and a wrong one is named', () => {
  expect(readEnv({ EDGELOOM_CONTROL: '', EDGELOOM_LISTEN: '127.0.0.1, [::1]' })).toEqual({
    EDGELOOM_DEMO_VISITORS: 'off',
    EDGELOOM_DIR: '/var/lib/edgeloom',
    EDGELOOM_FIREWALL: 'kernel',
    EDGELOOM_LISTEN: ['127.0.0.1', '[::1]'],
    EDGELOOM_LOG_BYTES: 2_000_000_000,
    EDGELOOM_NGINX: 'nginx',
    EDGELOOM_RELEASE_KEYS: '/etc/edgeloom/release-keys.pem',
    EDGELOOM_ROLE: 'edge',
  });
  expect(() => readEnv({ EDGELOOM_CONTROL: 'not a url' })).toThrow(/^EDGELOOM_CONTROL: /);
});

test('every variable of the agent stands in the page about nodes, with its default', async () => {
  const page = await readFile(new URL('../../docs/node.md', import.meta.url), 'utf8');
  const defaults = Object.entries(readEnv({}));
  for (const name of Object.keys(Env.shape)) expect(page).toContain(`| \`${name}\` |`);
  for (const [name, value] of defaults) expect(page).toContain(`| \`${name}\` | \`${String(value)}\` |`);
});
