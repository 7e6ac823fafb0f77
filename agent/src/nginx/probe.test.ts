import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { markErrorLog, probe } from './probe.ts';

const inUse = '2026/11/29 08:00:00 [emerg] 7#7: bind() to 0.0.0.0:80 failed (98: Address already in use)\n';
const givenUp = '2026/11/29 08:00:02 [emerg] 7#7: still could not bind()\n';

/** Probes generation 2. Before each response of nginx one more text is in its error log. */
async function probing(texts: string[], generationAfter: number) {
  const dir = await mkdtemp(path.join(tmpdir(), 'edgeloom-probe-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const file = path.join(dir, 'error.log');
  await appendFile(file, '[emerg] 7#7: an emergency before the mark\n');
  const answering = async () => {
    const text = texts.shift();
    if (text === undefined) return generationAfter;
    await appendFile(file, text);
    return 1;
  };
  await probe(answering, 2, await markErrorLog(file));
}

test('a port that becomes free while nginx retries it does not end the probe', async () => {
  await expect(probing([inUse, inUse], 2)).resolves.toBeUndefined();
});

test('the probe ends when nginx gives a port up, so that its retries cannot fail the next change', async () => {
  const texts = [inUse, inUse, givenUp];
  await expect(probing(texts, 1)).rejects.toThrow('bind() to 0.0.0.0:80 failed (98: Address already in use)');
  expect(texts).toEqual([]);
});

test('any other emergency ends the probe at once, behind any number of other errors', async () => {
  const noise = '[error] 7#7: connect() failed (111: Connection refused)\n'.repeat(2000);
  const emergency = '[emerg] 7#7: the size 1048576 of shared memory zone "docs" conflicts\n';
  await expect(probing([noise, emergency], 1)).rejects.toThrow('shared memory zone "docs"');
});
