// The firewall's engine in a bare nginx: judges requests, and lists what its model looks at.
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { detectCapabilities } from '@edgeloom/agent/render/capabilities.ts';
import * as z from 'zod';
import { freePorts } from './ports.ts';
import { testDir } from './test-dir.ts';

const run = promisify(execFile);
const lua = path.join(import.meta.dirname, '../../../agent/lua');

/** A request's parts, as bytes in Latin-1. */
export interface WafRequest {
  target: string;
  headers: readonly (readonly [name: string, value: string])[];
  body: string;
}

const Verdict = z.object({
  rule: z.string().optional(),
  place: z.string().optional(),
  score: z.number(),
  microseconds: z.number(),
  /** Contents of bodies and parts that were read, with all decodings. */
  readings: z.number(),
  values: z.array(z.string()).or(z.record(z.string(), z.never())),
});
export type Verdict = z.output<typeof Verdict>;

const code = `
  local cjson, inspect, model, scan = require("cjson"), require("edge.waf.inspect"), require("edge.waf.model"), require("edge.waf.scan")
  local charset, decode = require("edge.waf.charset"), require("edge.waf.decode")
  local read_wide_texts, wide, readings = charset.read_wide_texts, decode.wide, 0
  charset.read_wide_texts = function(...)
    readings = readings + 1
    return read_wide_texts(...)
  end
  decode.wide = function(...)
    readings = readings + 1
    return wide(...)
  end
  local now = require("edge.core.trails").now
  local score, seen = model.score, nil
  if ngx.var.arg_values then
    model.score = function(n, place)
      local list = { place }
      for i = 1, n do list[i + 1] = scan.tokens[i - 1] end
      seen[#seen + 1] = table.concat(list, ",")
      return score(n, place)
    end
  end
  ngx.req.read_body()
  local asked = cjson.decode(ngx.req.get_body_data())
  local bytes = ngx.decode_base64
  local module = { level = asked.level, disabled = {}, exceptions = {} }
  for _, id in ipairs(asked.disabled) do module.disabled[id] = true end
  local verdicts = {}
  for i, one in ipairs(asked.requests) do
    local headers = {}
    for _, pair in ipairs(one.headers) do
      local name, value = pair[1]:lower(), bytes(pair[2])
      local had = headers[name]
      if type(had) == "table" then had[#had + 1] = value else headers[name] = had and { had, value } or value end
    end
    seen, readings = {}, 0
    local target = bytes(one.target)
    local from = now()
    local found, worst = inspect.check({ target = target, path = target:match("^[^?]*"), headers = headers, body = bytes(one.body) }, module)
    local took = (now() - from) / 1000
    verdicts[i] = { rule = found and found.rule, place = found and found.place, score = worst, microseconds = took, values = seen, readings = readings }
  end
  model.score, charset.read_wide_texts, decode.wide = score, read_wide_texts, wide
  ngx.print(cjson.encode(verdicts))
`;

const matchCode = `
  local cjson, decode, rules = require("cjson"), require("edge.waf.decode"), require("edge.waf.rules")
  local by_id = {}
  for _, list in pairs(rules.at) do
    for _, rule in ipairs(list) do by_id[rule.id] = rule end
  end
  ngx.req.read_body()
  local found = {}
  for i, one in ipairs(cjson.decode(ngx.req.get_body_data())) do
    local text = decode.all(ngx.decode_base64(one.text)):lower()
    local bare = decode.without_comments(text)
    local rule = by_id[one.id]
    found[i] = rules.matches(rule, text) or bare ~= nil and rules.matches(rule, bare)
  end
  ngx.print(cjson.encode(found))
`;

const base64 = (text: string) => Buffer.from(text, 'latin1').toString('base64');

/** `pack`: Lua that replaces the built-in rules and weights. */
export async function startWafEngine(pack?: string) {
  const [dir, [port = 0], { modules }] = await Promise.all([testDir(), freePorts(1), detectCapabilities('nginx')]);
  const conf = path.join(dir, 'nginx.conf');
  if (pack !== undefined) {
    await mkdir(path.join(dir, 'edge/waf'), { recursive: true });
    await writeFile(path.join(dir, 'edge/waf/pack.lua'), pack);
  }
  await writeFile(path.join(dir, 'judge.lua'), code);
  await writeFile(path.join(dir, 'match.lua'), matchCode);
  await writeFile(
    conf,
    `${modules.map((module) => `load_module ${module};\n`).join('')}
daemon on; pid ${dir}/nginx.pid; error_log ${dir}/error.log; worker_processes 1; pcre_jit on;
events {}
http {
  access_log off; client_body_buffer_size 64m; client_max_body_size 64m;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${dir}/${name};`).join(' ')}
  lua_package_path "${dir}/?.lua;${lua}/?.lua;;";
  lua_regex_match_limit 100000;
  lua_regex_cache_max_entries 8192;
  lua_shared_dict changes 1m;
  init_by_lua_block { require("resty.core"); require("edge.waf.inspect") }
  server {
    listen 127.0.0.1:${port};
    location /match { content_by_lua_file ${dir}/match.lua; }
    location / { content_by_lua_file ${dir}/judge.lua; }
  }
}
`,
  );
  await run('nginx', ['-p', dir, '-c', conf]);
  return {
    async judge(
      requests: readonly WafRequest[],
      {
        level = 1,
        disabled = [],
        values = false,
      }: { level?: number; disabled?: readonly string[]; values?: boolean } = {},
    ): Promise<Verdict[]> {
      const encoded = requests.map(({ target, headers, body }) => ({
        target: base64(target),
        headers: headers.map(([name, value]) => [name, base64(value)]),
        body: base64(body),
      }));
      const reply = await fetch(`http://127.0.0.1:${port}/${values ? '?values=1' : ''}`, {
        method: 'POST',
        body: JSON.stringify({ level, disabled, requests: encoded }),
      });
      return z.array(Verdict).parse(await reply.json());
    },
    /** Whether each rule finds its text. */
    async match(texts: readonly { id: string; text: string }[]): Promise<boolean[]> {
      const encoded = texts.map(({ id, text }) => ({ id, text: base64(text) }));
      const reply = await fetch(`http://127.0.0.1:${port}/match`, { method: 'POST', body: JSON.stringify(encoded) });
      return z.array(z.boolean()).parse(await reply.json());
    },
    stop: async () => void (await run('nginx', ['-p', dir, '-c', conf, '-s', 'stop'])),
  };
}
