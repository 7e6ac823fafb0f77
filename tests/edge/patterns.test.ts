// Tenants' patterns on a real nginx: patterns that the API accepts compile, and others deny nobody.
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { detectCapabilities } from '@edgeloom/agent/render/capabilities.ts';
import { moduleDoc } from '@edgeloom/api/compile/module.ts';
import { safePattern } from '@edgeloom/contract/common/pattern.ts';
import fc from 'fast-check';
import * as z from 'zod';
import { describe, expect, onTestFinished, test } from 'vitest';
import { rule, startEdge } from '../support/services/edge.ts';
import { freePorts } from '../support/services/ports.ts';
import { testDir } from '../support/services/test-dir.ts';

const run = promisify(execFile);
const lua = path.join(import.meta.dirname, '../../agent/lua');

/** Compiles patterns with the edge's Lua code in a bare nginx. Returns the error of each, or null. */
async function compiler() {
  const [dir, [port = 0], { modules }] = await Promise.all([testDir(), freePorts(1), detectCapabilities('nginx')]);
  const conf = path.join(dir, 'nginx.conf');
  await writeFile(
    conf,
    `${modules.map((module) => `load_module ${module};\n`).join('')}
daemon on; pid ${dir}/nginx.pid; error_log ${dir}/error.log; worker_processes 1;
events {}
http {
  access_log off; client_body_buffer_size 4m; client_max_body_size 4m;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${dir}/${name};`).join(' ')}
  lua_package_path "${lua}/?.lua;;";
  lua_regex_match_limit 100000;
  lua_shared_dict changes 1m;
  init_by_lua_block { require("resty.core"); cjson = require("cjson"); patterns = require("edge.core.patterns") }
  server {
    listen 127.0.0.1:${port};
    set $e_site "";
    location / { content_by_lua_block {
      ngx.req.read_body()
      local errors = {}
      for i, pattern in ipairs(cjson.decode(ngx.req.get_body_data())) do
        local _, limit, is_broken = patterns.find("/some/path.html?a=1", pattern, "r")
        local _, _, also = patterns.match("/some/path.html?a=1", pattern, "r")
        errors[i] = (is_broken or also) and "broken" or limit and "limit" or "fine"
      end
      ngx.print(cjson.encode(errors))
    } }
  }
}
`,
  );
  await run('nginx', ['-p', dir, '-c', conf]);
  onTestFinished(async () => void (await run('nginx', ['-p', dir, '-c', conf, '-s', 'stop'])));
  return async (patterns: readonly string[]) => {
    const reply = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: JSON.stringify(patterns) });
    return z.array(z.enum(['broken', 'limit', 'fine'])).parse(await reply.json());
  };
}

const atoms = [
  'a',
  '.',
  '/',
  '^',
  '$',
  '|',
  '商',
  '\\.',
  '\\d',
  '\\W',
  '\\b',
  '\\x41',
  '\\cA',
  '\\0',
  '\\v',
  '\\n',
  '\\X',
];
const odd = [
  '[a-z]',
  '[^/]',
  '[]',
  '[^]',
  '[\\d-]',
  '[[:alpha:]',
  '[[.a.]',
  '[\\b]',
  '[\\v-z]',
  '[é]',
  '\\p{L}',
  '\\u0061',
];
const repeats = ['*', '+', '?', '*?', '{2}', '{0,7}', '{900}', '{3,}', '{', '{,3}', '++'];
const { pattern } = fc.letrec<{ pattern: string; part: string }>((tie) => ({
  pattern: fc.array(tie('part'), { maxLength: 5 }).map((parts) => parts.join('')),
  part: fc
    .tuple(
      fc.oneof(
        { maxDepth: 4 },
        { weight: 4, arbitrary: fc.constantFrom(...atoms) },
        { weight: 2, arbitrary: fc.constantFrom(...odd) },
        fc.string({ maxLength: 3 }),
        tie('pattern').map((text) => `(${text})`),
        tie('pattern').map((text) => `(?:${text})`),
      ),
      fc.oneof({ weight: 4, arbitrary: fc.constant('') }, fc.constantFrom(...repeats)),
    )
    .map(([text, repeat]) => text + repeat),
}));

describe('a pattern', () => {
  test('that the API accepts compiles at nginx', async () => {
    const compile = await compiler();
    const accepted = fc.sample(pattern, { numRuns: 6000, seed: 1 }).filter((text) => safePattern(text) === null);
    expect(new Set(accepted).size).toBeGreaterThan(500);
    const outcomes = await compile(accepted);
    expect(accepted.filter((_, i) => outcomes[i] === 'broken')).toEqual([]);
  });

  test('that nginx rejects is rejected by the API, too', async () => {
    const compile = await compiler();
    const refused = ['\\u0061', '[]', '[^]a', '(?:(?:a{1000}){1000}){1000}', '[[:nope:]', '[\\d-\\w-[:x:]]'];
    expect(await compile(refused)).toEqual(refused.map(() => 'broken'));
    expect(refused.filter((text) => safePattern(text) === null)).toEqual([]);
  });

  test('that does not compile denies nothing, is counted, and is listed with its site and rule', async () => {
    const edge = await startEdge({ zone: { worker: { processes: 1, connections: 1024 } } });
    onTestFinished(() => edge.stop());
    const broken = { type: 'regex' as const, value: ['\\u0061'] };
    const rewrite = moduleDoc({
      id: randomUUID(),
      kind: 'proxyRewrite',
      settings: {
        rules: [
          { ...rewriteOf('[]'), target: '/elsewhere' },
          { ...rewriteOf('^/a$'), target: '/b' },
        ],
      },
      redirects: null,
    });
    await edge.put(rewrite);
    const ids = [randomUUID(), randomUUID(), randomUUID()];
    const { name, site } = await edge.site(
      { rates: [{ id: ids[0] ?? '', ...broken, rate: 1, after: 0 }] },
      {
        antiHeaders: [{ id: ids[1] ?? '', name: 'x-text', operator: 'matches', value: '[]', action: 'deny' as const }],
        antiReferers: [{ id: ids[2] ?? '', ...broken, isBlack: false, referers: [], allowEmpty: false }],
        modules: { proxyRewrite: rewrite.id },
      },
    );
    const reply = await edge.get('/a', {
      host: name,
      headers: { 'x-text': 'anything', referer: 'https://foreign.example/' },
    });
    expect(reply.status).toBe(200);
    expect(edge.origin.asked('/b')).toHaveLength(1);

    const { patterns = [] } = await edge.admin.status();
    expect(patterns.map(({ rule: id }) => id).toSorted()).toEqual([...ids, rewrite.id].toSorted());
    expect(patterns.find(({ rule: id }) => id === ids[1])).toEqual({
      site: site.id,
      rule: ids[1],
      error: expect.stringContaining('missing terminating ]'),
    });
    expect((await edge.counters())['patternFailed']).toBeGreaterThanOrEqual(4);
    expect((await edge.counters())['pluginFailed']).toBe(0);
  });

  test('of a cache rule that does not compile stores nothing, so that no later rule caches its URLs', async () => {
    const edge = await startEdge({ zone: { worker: { processes: 1, connections: 1024 } } });
    onTestFinished(() => edge.stop());
    const { name } = await edge.site({ cacheRules: [rule({ type: 'regex', value: ['[]'] }), rule()] });
    const replies = [await edge.get('/x', { host: name }), await edge.get('/x', { host: name })];
    expect(replies.map(({ status }) => status)).toEqual([200, 200]);
    expect(edge.origin.asked('/x')).toHaveLength(2);
  });
});

const rewriteOf = (source: string) => ({
  type: 'regex' as const,
  source,
  keepRest: true,
  keepQuery: true,
  host: null,
  enabled: true,
});
