// Each built-in rule with its examples, on the engine of the nodes.
import { readFile } from 'node:fs/promises';
import { rules } from '@edgeloom/waf-rules/rules.ts';
import { currentPack, packFile } from '@edgeloom/waf-rules/write-pack.ts';
import { afterAll, expect, test } from 'vitest';
import { startWafEngine } from '../support/services/waf-engine.ts';

const engine = await startWafEngine();
afterAll(() => engine.stop());

const examples = (kind: 'hits' | 'misses') =>
  rules.flatMap((rule) => rule[kind].map((text) => ({ id: rule.id, text })));

test('each rule finds its own examples of attacks', async () => {
  const all = examples('hits');
  const found = await engine.match(all);
  expect(all.filter((_, i) => !found[i])).toEqual([]);
});

test('no rule finds its own examples of ordinary texts', async () => {
  const all = examples('misses');
  const found = await engine.match(all);
  expect(all.filter((_, i) => found[i])).toEqual([]);
});

test('rules have ids of their own, examples of both kinds, and three languages', () => {
  expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length);
  for (const { id, category, pattern, hits, misses, name, description } of rules) {
    expect(id.startsWith(`${category}-`), id).toBe(true);
    expect(pattern === null || misses.length > 0, id).toBe(true);
    expect(hits.length > 0 || pattern === null || pattern === '(?!)', id).toBe(true);
    for (const text of [...Object.values(name), ...Object.values(description)]) expect(text, id).not.toBe('');
  }
  expect(rules.filter(({ pattern }) => pattern !== null).length).toBeGreaterThanOrEqual(200);
});

test('nodes have the pack of these rules and weights', async () => {
  expect(await readFile(packFile, 'utf8')).toBe(await currentPack());
});
