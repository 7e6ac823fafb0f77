import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { LogBatch } from '@edgeloom/contract/edge/log-batches.ts';
import { expect, onTestFinished, test, vi } from 'vitest';
import { LogShipper } from './log-shipper.ts';

const HOUR_MS = 3_600_000;
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** A hundred times as fast as this machine's. */
function fastClock() {
  let offset = 0;
  const monotonic = () => performance.now() * 100;
  return { monotonic, wall: () => monotonic() + offset, set: (ms: number) => (offset += ms) };
}

// Regression: the whole batch moved by an hour.
test('lines that waited while the clock was set keep their time', async () => {
  const logs = await mkdtemp(path.join(tmpdir(), 'shipper-'));
  onTestFinished(() => rm(logs, { recursive: true, force: true }));
  const clock = fastClock();
  const write = (uri: string) =>
    appendFile(path.join(logs, 'access.json'), `{"time":${clock.wall() / 1000},"uri":"${uri}"}\n`);
  const batches: LogBatch[] = [];
  let [isReachable, attempts] = [false, 0];
  const send = (batch: LogBatch) => {
    attempts += 1;
    if (!isReachable) return Promise.reject(new Error('not reachable'));
    batches.push(LogBatch.parse(batch));
    return Promise.resolve({ reached: batch.to });
  };
  await write('/before');
  const rotate = () => Promise.resolve();
  const shipper = new LogShipper({ kind: 'sessions', logs, maxBytes: 1e9, rotate, send, clock, log });
  onTestFinished(() => shipper.stop());
  await vi.waitFor(() => expect(attempts).toBeGreaterThan(0), { timeout: 20_000 });
  clock.set(HOUR_MS);
  await write('/after');
  isReachable = true;
  await vi.waitFor(() => expect(batches).toHaveLength(2), { timeout: 20_000 });
  const [before, after] = batches;
  const texts = batches.map(({ lines }) => gunzipSync(Buffer.from(lines, 'base64')).toString());
  expect(texts).toEqual([expect.stringContaining('/before'), expect.stringContaining('/after')]);
  // The second batch was sent with the new clock, and the first one with the old one.
  const difference = Number(after?.sentAt) - Number(before?.sentAt);
  expect(Math.abs(difference - HOUR_MS)).toBeLessThan(HOUR_MS / 2);
  expect([before?.from, after?.from]).toEqual([0, before?.to]);
});

test.each([
  ['an empty file', '', /^\d+-/],
  ['no file', null, /^none$/],
])('a node without layer-4 sessions reports that none are missing: %s', async (_, text, name) => {
  const logs = await mkdtemp(path.join(tmpdir(), 'shipper-'));
  onTestFinished(() => rm(logs, { recursive: true, force: true }));
  if (text !== null) await appendFile(path.join(logs, 'access.json'), text);
  const batches: LogBatch[] = [];
  const send = (batch: LogBatch) => {
    batches.push(LogBatch.parse(batch));
    return Promise.resolve({ reached: batch.to });
  };
  const rotate = () => Promise.resolve();
  const shipper = new LogShipper({ kind: 'sessions', logs, maxBytes: 1e9, rotate, send, log });
  onTestFinished(() => shipper.stop());
  await vi.waitFor(() => expect(batches).toHaveLength(1), { timeout: 20_000 });
  const [batch] = batches;
  expect(batch).toMatchObject({ kind: 'sessions', from: 0, to: 0, file: expect.stringMatching(name) as unknown });
  expect(gunzipSync(Buffer.from(batch?.lines ?? '', 'base64'))).toHaveLength(0);
});
