import { generateKeyPairSync } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { packText, RULES_VERSION } from '@edgeloom/waf-rules/pack.ts';
import { currentWafPack } from '@edgeloom/waf-rules/write-pack.ts';
import { expect, onTestFinished, test } from 'vitest';
import { makeRelease } from './release.ts';

const { privateKey: key } = generateKeyPairSync('ed25519');

/** Makes a release of the product `waf`, and returns the files of the release folder. */
async function releaseOf(name: string, content: string, version: string): Promise<string[]> {
  const dir = await mkdtemp(path.join(tmpdir(), 'edgeloom-release-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const [from, to] = [path.join(dir, 'from'), path.join(dir, 'to')];
  await mkdir(from);
  await writeFile(path.join(from, name), content);
  await makeRelease({ product: 'waf', version, from: path.join(from, name), to, key });
  return (await readdir(to)).sort();
}

test('a WAF pack is signed with the version of its rules only', async () => {
  const text = packText(await currentWafPack());
  expect(await releaseOf('waf.json', text, RULES_VERSION)).toEqual([
    `waf-${RULES_VERSION}.json`,
    `waf-${RULES_VERSION}.tar.gz`,
  ]);
  await expect(releaseOf('waf.json', text, '2099.1.1')).rejects.toThrow(`has version ${RULES_VERSION}`);
});

test('a WAF pack that nodes would reject is not signed', async () => {
  await expect(releaseOf('waf.json', '{}', RULES_VERSION)).rejects.toThrow(/^format: /);
  await expect(releaseOf('rules.json', '{}', RULES_VERSION)).rejects.toThrow('a waf pack is a file waf.json');
});
