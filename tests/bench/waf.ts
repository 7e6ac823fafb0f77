// The firewall's engine: attacks found, ordinary requests refused, and CPU time per request. `pnpm bench:waf [FOLDER]`.
// The folder has requests as `pnpm waf:train` reads them. Without it, built-in ones are used: rule examples, and texts
// that only look like attacks. Rule examples say nothing about quality, only about cost.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { rules } from '@edgeloom/waf-rules/rules.ts';
import type { WafRequest } from '../support/services/waf-engine.ts';
import { judgeAll, percent, readRequests, scoresOf, type Labelled } from './waf-training.ts';

const AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0';
const request = (text: string): WafRequest => ({
  target: `/search?q=${encodeURIComponent(text)}&page=2`,
  headers: [
    ['User-Agent', AGENT],
    ['Accept', 'text/html'],
    ['Cookie', 'session=0f1e2d3c4b5a; theme=dark'],
  ],
  body: '',
});

/** Texts that only look like attacks. */
const lookAlikes = [
  "O'Brien & Sons",
  'SELECT committee report',
  'the student union elections select a new chair',
  'drop table reservations by phone',
  'if x < 5 and y > 3 then stop',
  'how to use <script> tags in HTML',
  'C:\\Users and other folders',
  'cat and dog; ls is a letter',
  '100% wool or 50% cotton',
  '1 = 1 is a tautology',
  'price {{amount}} in EUR',
  'email me @ noon -- thanks',
  'Jean-Luc d’Arc, naïve café',
  '如何在 MySQL 中使用 UNION 查詢',
  'где купить чай и кофе',
  'f(x) = 2x + 1; g(x) = x^2',
];

async function builtIn(): Promise<Labelled[]> {
  const hits = rules.flatMap(({ hits: list }) => list);
  const of = (isAttack: boolean) => (text: string, i: number) => ({
    kind: isAttack ? 'rule-examples' : 'look-alikes',
    class: '',
    isAttack,
    fold: i % 2,
    request: request(Buffer.from(text).toString('latin1')),
  });
  return [...hits.map(of(true)), ...lookAlikes.map(of(false))];
}

const {
  positionals: [folder],
  values: { json },
} = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'string', default: '.data/bench/waf.json' } },
});
const requests = folder === undefined ? await builtIn() : await readRequests(folder);
const levels: object[] = [];
for (const level of [1, 2, 3, 4]) {
  const verdicts = await judgeAll(requests, { level });
  const times = verdicts.map(({ microseconds }) => microseconds).sort((a, b) => a - b);
  const at = (part: number) => times[Math.floor(part * (times.length - 1))] ?? 0;
  const [median, p99, worst] = [at(0.5), at(0.99), at(1)];
  console.log(
    `\nParanoia ${level}: ${median.toFixed(0)} µs median, ${p99.toFixed(0)} µs p99, ${worst.toFixed(0)} µs worst, per request`,
  );
  const scores = scoresOf(requests, verdicts);
  for (const [name, score] of Object.entries(scores))
    console.log(`  ${name}: ${percent(score)} of ${score.requests} refused`);
  levels.push({ level, median, p99, worst, scores });
}
await mkdir(path.dirname(json), { recursive: true });
await writeFile(json, `${JSON.stringify(levels, null, 2)}\n`);
