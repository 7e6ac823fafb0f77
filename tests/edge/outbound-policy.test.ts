// The outbound policy in Lua and in TypeScript must agree. The Lua code runs in a bare nginx.
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { detectCapabilities } from '@edgeloom/agent/render/capabilities.ts';
import { originFault, originPolicy, type OriginSettings } from '@edgeloom/api/core/outbound.ts';
import { expect, onTestFinished, test } from 'vitest';
import {
  forbiddenAddresses,
  publicAddresses,
  restrictedAddresses,
  unrestrictedAddresses,
} from '../support/builders/outbound-addresses.ts';
import { freePorts } from '../support/services/ports.ts';
import { testDir } from '../support/services/test-dir.ts';

const run = promisify(execFile);
const lua = path.join(import.meta.dirname, '../../agent/lua');

const [dir, [port = 0], { modules }] = await Promise.all([testDir(), freePorts(1), detectCapabilities('nginx')]);
const conf = path.join(dir, 'nginx.conf');
await writeFile(
  conf,
  `${modules.map((module) => `load_module ${module};\n`).join('')}
daemon on; pid ${dir}/nginx.pid; error_log ${dir}/error.log;
events {}
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${dir}/${name};`).join(' ')}
  lua_package_path "${lua}/?.lua;;";
  server {
    listen 127.0.0.1:${port};
    location / { content_by_lua_block {
      local cjson = require("cjson.safe")
      ngx.req.read_body()
      local asked = cjson.decode(ngx.req.get_body_data())
      local policy = require("edge.origin.policy")
      local allowed = {}
      for i, address in ipairs(asked.addresses) do
        allowed[i] = policy.allows(asked.policy, address)
      end
      ngx.print(cjson.encode(allowed))
    } }
  }
}
`,
);

async function allowedByLua(
  { restrictedNetworks: restricted, ...settings }: OriginSettings,
  addresses: readonly string[],
) {
  const body = JSON.stringify({ policy: { ...originPolicy(settings), restricted }, addresses });
  return (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body })).json();
}

test('edge and API deny the same addresses, and allow the same exceptions', async () => {
  await run('nginx', ['-p', dir, '-c', conf]);
  onTestFinished(async () => void (await run('nginx', ['-p', dir, '-c', conf, '-s', 'stop'])));
  const addresses = [...forbiddenAddresses, ...publicAddresses];
  const strict = { ORIGIN_ALLOW: [], ORIGIN_DENY: [] };
  expect(await allowedByLua(strict, addresses)).toEqual([
    ...forbiddenAddresses.map(() => false),
    ...publicAddresses.map(() => true),
  ]);
  const open = { ORIGIN_ALLOW: ['127.0.0.1/32', '10.0.0.0/8', '::1/128'], ORIGIN_DENY: ['8.8.8.8/32'] };
  expect(await allowedByLua(open, addresses)).toEqual(addresses.map((address) => originFault(address, open) === null));
  for (const [address, exception, network] of [...restrictedAddresses, ...unrestrictedAddresses]) {
    const settings = { ORIGIN_ALLOW: [exception], ORIGIN_DENY: [], restrictedNetworks: [network] };
    const isAllowed = originFault(address, settings) === null;
    expect([address, await allowedByLua(settings, [address])]).toEqual([address, [isAllowed]]);
  }
});
