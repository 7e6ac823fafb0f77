// Risk pack lookups in Lua against a linear search. A bare nginx reads the pack as the edge does.
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { detectCapabilities } from '@edgeloom/agent/render/capabilities.ts';
import { encodeRiskPack, flattened, networkOf } from '@edgeloom/contract/edge/risk-pack.ts';
import { expect, onTestFinished, test } from 'vitest';
import { freePorts } from '../support/services/ports.ts';
import { testDir } from '../support/services/test-dir.ts';

const run = promisify(execFile);
const lua = path.join(import.meta.dirname, '../../agent/lua');

/** Scores of addresses, in hexadecimal, one per line. */
async function reader(file: Buffer) {
  const [dir, [port = 0], { modules }] = await Promise.all([testDir(), freePorts(1), detectCapabilities('nginx')]);
  const pack = path.join(dir, 'risk.bin');
  await writeFile(pack, file);
  const conf = path.join(dir, 'nginx.conf');
  await writeFile(
    conf,
    `${modules.map((module) => `load_module ${module};\n`).join('')}
daemon on; pid ${dir}/nginx.pid; error_log ${dir}/error.log; worker_processes 2;
events {}
http {
  access_log off; client_body_buffer_size 4m; client_max_body_size 4m;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${dir}/${name};`).join(' ')}
  lua_package_path "${lua}/?.lua;;";
  init_by_lua_block { require("resty.core"); risk = require("edge.core.risk"); risk.load("${pack}") }
  server {
    listen 127.0.0.1:${port};
    location / { content_by_lua_block {
      ngx.req.read_body()
      local scores = {}
      for line in ngx.req.get_body_data():gmatch("%x+") do
        local bytes = line:gsub("%x%x", function(pair) return string.char(tonumber(pair, 16)) end)
        scores[#scores + 1] = risk.score(bytes)
      end
      ngx.print(risk.fault or table.concat(scores, ","))
    } }
  }
}
`,
  );
  await run('nginx', ['-p', dir, '-c', conf]);
  onTestFinished(async () => void (await run('nginx', ['-p', dir, '-c', conf, '-s', 'stop'])));
  return async (addresses: readonly string[]) => {
    const reply = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: addresses.join('\n') });
    return reply.text();
  };
}

/** Seeded random numbers. */
function dice(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test('Lua finds the same scores of thousands of addresses as a linear search', async () => {
  const roll = dice(7);
  const some = <T>(count: number, make: () => T) => Array.from({ length: count }, make);
  const four = () => `${20 + roll(3)}.${roll(4)}.${roll(256)}.${roll(256)}`;
  const six = () => `2a00:${roll(4).toString(16)}:${roll(65_536).toString(16)}:${roll(65_536).toString(16)}::1`;
  const networks = [
    ...some(1500, () => `${four()}/${20 + roll(13)}`),
    ...some(700, () => `${six()}/${36 + roll(40)}`),
    '223.255.255.255',
    '1.0.0.0',
  ].map((network) => ({ ...networkOf(network), score: 1 + roll(100) }));
  const edges = networks.flatMap(({ family, first, last }) =>
    [first - 1n, first, last, last + 1n].map((place) => ({ family, first: place })),
  );
  const looked = [
    ...edges,
    ...some(2000, four).map(networkOf),
    ...some(1000, six).map(networkOf),
    ...['0.0.0.0', '255.255.255.255', '::', 'ffff::'].map(networkOf),
  ];
  const hex = ({ family, first }: { family: 4 | 6; first: bigint }) =>
    family === 4 ? first.toString(16).padStart(8, '0') : `${first.toString(16).padStart(16, '0')}0123456789abcdef`;
  const expected = looked.map(({ family, first }) =>
    Math.max(
      0,
      ...networks
        .filter((network) => network.family === family && network.first <= first && first <= network.last)
        .map(({ score }) => score),
    ),
  );
  expect(expected.filter((score) => score > 0).length).toBeGreaterThan(3000);
  const ask = await reader(encodeRiskPack(flattened(networks)));
  expect(await ask(looked.map(hex))).toBe(expected.join());
  // A dual-stack socket.
  const [listed] = networks;
  const mapped = `00000000000000000000ffff${(listed?.first ?? 0n).toString(16).padStart(8, '0')}`;
  expect(await ask([mapped])).toBe(String(expected[1]));
});

test('a pack of one address family has no addresses of the other, and an unreadable pack has none', async () => {
  const ask = await reader(encodeRiskPack(flattened([{ ...networkOf('8.8.8.0/24'), score: 75 }])));
  expect(await ask(['08080801', '2a000000000000000000000000000001'])).toBe('75,0');
  const torn = encodeRiskPack(flattened([{ ...networkOf('8.8.8.0/24'), score: 75 }])).subarray(0, -1);
  expect(await (await reader(torn))(['08080801'])).toBe('it is torn or of a later form');
});
