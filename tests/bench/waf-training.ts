// Trains the firewall's model: `pnpm waf:train FOLDER`. The folder has `*-attacks.ndjson.gz` and `*-benign.ndjson.gz`,
// lines of { raw } or { base64 } with whole HTTP requests. Writes packages/waf-rules/model.
import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { luaPack, type Model } from '@edgeloom/waf-rules/pack.ts';
import * as z from 'zod';
import { startWafEngine, type Verdict, type WafRequest } from '../support/services/waf-engine.ts';
import { train, type Sample } from './waf-model.ts';

const Line = z.object({ raw: z.string().optional(), base64: z.string().optional(), class: z.string().optional() });
export interface Labelled {
  kind: string;
  class: string;
  isAttack: boolean;
  /** Folds of the cross-validation, by hash, so that copies of a request are in one. */
  fold: number;
  request: WafRequest;
}

/** A raw HTTP request. Broken ones are read as far as they go. */
function parseRequest(raw: string): WafRequest {
  const [head = '', ...rest] = raw.split(/\r?\n\r?\n/);
  const [first = '', ...lines] = head.split(/\r?\n/);
  const target = /^\S+ (.*?)(?: HTTP\/[\d.]+)?$/.exec(first)?.[1] ?? '/';
  const headers = lines.flatMap((line) => {
    const colon = line.indexOf(':');
    return colon > 0 ? [[line.slice(0, colon), line.slice(colon + 1).trim()] as const] : [];
  });
  return { target, headers, body: rest.join('\r\n\r\n') };
}

export async function readRequests(folder: string): Promise<Labelled[]> {
  const files = (await readdir(folder)).filter((name) => /-(?:attacks|benign)\.ndjson\.gz$/.test(name));
  const all: Labelled[] = [];
  for (const file of files.sort()) {
    const [, kind = '', label] = /^(.*)-(attacks|benign)\./.exec(file) ?? [];
    for (const line of gunzipSync(await readFile(path.join(folder, file)))
      .toString()
      .split('\n')) {
      if (line === '') continue;
      const { raw, base64, class: of = '' } = Line.parse(JSON.parse(line));
      const text = raw ?? Buffer.from(base64 ?? '', 'base64').toString('latin1');
      const fold = (createHash('sha256').update(text).digest()[0] ?? 0) % FOLDS;
      all.push({ kind, class: of, isAttack: label === 'attacks', fold, request: parseRequest(text) });
    }
  }
  return all;
}

const FOLDS = 2;
const BATCH = 500;

/** Judges all requests with a pack. */
export async function judgeAll(
  requests: readonly Labelled[],
  options: { pack?: string; level?: number; values?: boolean },
): Promise<Verdict[]> {
  const engine = await startWafEngine(options.pack);
  const verdicts: Verdict[] = [];
  try {
    for (let i = 0; i < requests.length; i += BATCH) {
      const batch = requests.slice(i, i + BATCH).map(({ request }) => request);
      verdicts.push(...(await engine.judge(batch, options)));
    }
  } finally {
    await engine.stop();
  }
  return verdicts;
}

interface Score {
  requests: number;
  refused: number;
}
/** Refused requests by kind and class. */
export function scoresOf(requests: readonly Labelled[], verdicts: readonly Verdict[]): Record<string, Score> {
  const scores: Record<string, Score> = {};
  for (const [i, { kind, isAttack, class: of }] of requests.entries())
    for (const name of [
      `${kind} ${isAttack ? 'attacks' : 'benign'}`,
      ...(isAttack && of !== '' ? [`${kind}: ${of}`] : []),
    ]) {
      const score = (scores[name] ??= { requests: 0, refused: 0 });
      score.requests += 1;
      if (verdicts[i]?.rule !== undefined) score.refused += 1;
    }
  return scores;
}

export const percent = ({ requests, refused }: Score) => `${((100 * refused) / requests).toFixed(2)} %`;

/** Rule tests attack single rules, often without an attack, so the model does not learn from them. */
const isLearned = ({ kind }: Labelled) => kind !== 'rule-tests';

const LEVELS = [1, 2, 3, 4];
/** The score of the fifth benign request in a thousand becomes 0, of the fifth in ten thousand 4: see inspect.lua. */
const QUANTILES = { zero: 0.995, four: 0.9995 };
interface Calibration {
  factor: number;
  shift: number;
}

function calibrationOf(requests: readonly Labelled[], verdicts: readonly Verdict[]): Calibration {
  const scores = requests
    .flatMap(({ kind, isAttack }, i) => (kind === 'requests' && !isAttack ? [verdicts[i]?.score ?? 0] : []))
    .sort((a, b) => a - b);
  const at = (part: number) => scores[Math.floor(part * (scores.length - 1))] ?? 0;
  const factor = 4 / Math.max(0.5, at(QUANTILES.four) - at(QUANTILES.zero));
  return { factor, shift: -factor * at(QUANTILES.zero) };
}

const calibrated = (model: Model, { factor, shift }: Calibration): Model => ({
  ...model,
  bias: Number((model.bias * factor + shift).toFixed(3)),
  scale: Number((model.scale * factor).toFixed(5)),
});

async function main(folder: string) {
  const requests = (await readRequests(folder)).filter(isLearned);
  // Without weights every value is looked at.
  const empty: Model = { bias: 0, scale: 1, places: {}, packed: '' };
  const seen = await judgeAll(requests, { pack: luaPack(empty), values: true });
  const samples: Sample[] = requests.map(({ isAttack, fold }, i) => ({
    isAttack,
    fold,
    values: Array.isArray(seen[i]?.values) ? seen[i].values : [],
  }));
  console.log(`${samples.length} requests`);
  const verdicts: Verdict[][] = LEVELS.map(() => []);
  const calibrations: Calibration[] = [];
  for (let fold = 0; fold < FOLDS; fold += 1) {
    const model = train(samples.filter((one) => one.fold !== fold));
    const held = requests.map((one, i) => ({ one, i })).filter(({ one }) => one.fold === fold);
    const heldOut = held.map(({ one }) => one);
    const calibration = calibrationOf(heldOut, await judgeAll(heldOut, { pack: luaPack(model), level: 4 }));
    calibrations.push(calibration);
    const pack = luaPack(calibrated(model, calibration));
    for (const [at, level] of LEVELS.entries()) {
      const found = await judgeAll(heldOut, { pack, level });
      for (const [k, { i }] of held.entries()) {
        const verdict = found[k];
        const list = verdicts[at];
        if (verdict && list) list[i] = verdict;
      }
    }
  }
  const tables = LEVELS.map((level, at) => {
    const scores = scoresOf(requests, verdicts[at] ?? []);
    const rows = Object.entries(scores).map(([name, score]) => `| ${name} | ${score.requests} | ${percent(score)} |`);
    return `## Paranoia ${level}\n\n| held-out requests | number | refused |\n|---|---|---|\n${rows.join('\n')}\n`;
  });
  const mean = (of: (one: Calibration) => number) => calibrations.reduce((sum, one) => sum + of(one), 0) / FOLDS;
  const model = calibrated(train(samples), { factor: mean(({ factor }) => factor), shift: mean(({ shift }) => shift) });
  const out = path.join(import.meta.dirname, '../../packages/waf-rules/model');
  await writeFile(path.join(out, 'weights.json'), `${JSON.stringify(model)}\n`);
  await writeFile(path.join(out, 'card.md'), modelCard(requests, tables, model));
  console.log(tables.join('\n'));
}

const modelCard = (requests: readonly Labelled[], tables: readonly string[], { packed }: Model) => `# Model card

Written by \`pnpm waf:train\` on ${new Date().toISOString().slice(0, 10)}.

- **Data**: ${requests.filter(({ isAttack }) => isAttack).length} attacks and ${requests.filter(({ isAttack }) => !isAttack).length} benign requests from public collections, not part of this repository.
- **Features**: 1- to 4-grams of tokens (keywords of languages, word, number, punctuation marks) in windows of 40, hashed to 65,536. Words of a
  site are one token, so names, hosts, addresses and dates are no features.
- **Method**: logistic regression with AdaGrad. An attack counts by its most suspicious value only, selected in two rounds.
  ${Buffer.from(packed, 'base64').length / 3} weights of one byte.
- **Scores**: ${FOLDS}-fold cross-validation of engine, rules and weights. Thresholds are calibrated on the held-out benign requests themselves,
  so their number of refused ones is partly by construction. The rules were written with knowledge of the kinds of attacks.

${tables.join('\n')}`;

const [folder] = process.argv.slice(2);
if (import.meta.main) {
  if (folder === undefined) throw new Error('Usage: pnpm waf:train FOLDER');
  await main(folder);
}
