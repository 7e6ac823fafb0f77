// A pack of the product `waf` in nginx: newer rules than those of the agent, and what happens to unusable ones.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { readWafPack, WAF_FILE, type WafPack } from '@edgeloom/contract/edge/waf-pack.ts';
import { packText, RULES_VERSION } from '@edgeloom/waf-rules/pack.ts';
import { currentWafPack } from '@edgeloom/waf-rules/write-pack.ts';
import { afterAll, expect, test } from 'vitest';
import { siteWithWaf } from '../support/builders/waf.ts';
import { startEdge } from '../support/services/edge.ts';

const [edge, ownPack] = await Promise.all([startEdge(), currentWafPack()]);
afterAll(() => edge.stop());
const NEWER = '2099.1.1';
const LATER_FORMAT = 2;
const INJECTION = '/?id=1%20union%20all%20select%20name,2%20from%20users';

const patch: WafPack['rules'][number] = {
  id: 'product-virtual-patch',
  category: 'product',
  points: 5,
  level: 1,
  alone: true,
  targets: ['target'],
  pattern: String.raw`^/vulnerable\.cgi\b`,
};
const newer = (over: Partial<WafPack> = {}): WafPack => ({
  ...ownPack,
  version: NEWER,
  rules: [...ownPack.rules, patch],
  ...over,
});

/** Reloads nginx with the pack, or without one. Returns what it reports. */
async function load(text: string | null) {
  const file = path.join(edge.dir, 'packs/waf/current', WAF_FILE);
  await rm(file, { force: true });
  if (text !== null) {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  await edge.reload();
  return (await edge.admin.status()).waf;
}

const statusOf = async (name: string, target: string) => (await edge.get(target, { host: name })).status;

test('a rule of a newer pack refuses requests, and a site may disable it', async () => {
  const [{ name }, { name: disabling }] = await Promise.all([
    siteWithWaf(edge),
    siteWithWaf(edge, { disabledRules: [patch.id] }),
  ]);
  expect(await load(null)).toEqual({ version: RULES_VERSION });
  expect(await statusOf(name, '/vulnerable.cgi')).toBe(200);
  expect(await load(packText(newer()))).toEqual({ version: NEWER });
  expect(await statusOf(name, '/vulnerable.cgi')).toBe(403);
  expect(await statusOf(disabling, '/vulnerable.cgi')).toBe(200);
  expect(await statusOf(name, INJECTION)).toBe(403);
  // Without the pack the built-in rules are in use.
  await load(null);
  expect([await statusOf(name, '/vulnerable.cgi'), await statusOf(name, INJECTION)]).toEqual([200, 403]);
});

test('a pack replaces keywords and weights together', async () => {
  const { name } = await siteWithWaf(edge);
  // Without weights all values have the score of the bias, at which no rule runs.
  await load(packText(newer({ model: { ...ownPack.model, bias: -100, packed: '' } })));
  expect(await statusOf(name, INJECTION)).toBe(200);
  await load(null);
  expect(await statusOf(name, INJECTION)).toBe(403);
});

test('a pack with the version of the built-in rules, or an earlier one, is not used', async () => {
  const { name } = await siteWithWaf(edge);
  for (const version of [RULES_VERSION, '2026.10.99', '1.0.0']) {
    expect(await load(packText(newer({ version })))).toEqual({ version: RULES_VERSION });
    expect(await statusOf(name, '/vulnerable.cgi')).toBe(200);
  }
});

const withoutRule = (id: string) => newer({ rules: ownPack.rules.filter((rule) => rule.id !== id) });
test.each([
  ['that is torn', packText(newer()).slice(0, -100), 'it is torn or no JSON'],
  ['that is no pack', '[]', 'it has no version'],
  [
    'of a later format',
    JSON.stringify({ version: NEWER, format: LATER_FORMAT }),
    'it has the format 2, and this release reads 1',
  ],
  [
    'with an invalid pattern',
    packText(newer({ rules: [...ownPack.rules, { ...patch, pattern: '(' }] })),
    expect.stringMatching(/^the pattern of product-virtual-patch is invalid: /),
  ],
  [
    'without a rule about bodies',
    packText(withoutRule('protocol-large-body')),
    'it lacks the rule protocol-large-body',
  ],
  ['without a rule of the model', packText(withoutRule('sqli-model')), 'it lacks the rule sqli-model'],
  [
    'with two equal keywords',
    packText(newer({ keywords: [...ownPack.keywords, { category: 'sqli', words: 'union' }] })),
    'two keywords share a hash',
  ],
  [
    'with more keywords than fit',
    packText(
      newer({ keywords: [{ category: 'sqli', words: Array.from({ length: 9000 }, (_, i) => `w${i}`).join(' ') }] }),
    ),
    'there are too many keywords',
  ],
])('a pack %s leaves the built-in rules in use, and is reported', async (_, text, fault) => {
  const { name } = await siteWithWaf(edge);
  expect(await load(text)).toEqual({ version: RULES_VERSION, fault });
  expect([await statusOf(name, '/vulnerable.cgi'), await statusOf(name, INJECTION)]).toEqual([200, 403]);
});

test('an agent accepts the pack that `pnpm waf:pack` writes', () => {
  expect(readWafPack(Buffer.from(packText(ownPack)))).toEqual(ownPack);
});
