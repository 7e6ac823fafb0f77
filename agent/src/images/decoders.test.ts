import { EventEmitter } from 'node:events';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { Decoders } from './decoders.ts';

const image = { bytes: new Uint8Array([1]), quality: 80 };
const webp = new Uint8Array([2]);

/** A decoder process that does only what the test emits. */
class FakeDecoder extends EventEmitter {
  readonly pid = undefined;
  readonly kill = vi.fn<() => boolean>(() => true);
  readonly send = vi.fn<() => boolean>(() => true);
}

/** A pool, and the decoders that it has started. */
function pool() {
  const started: FakeDecoder[] = [];
  const start = () => {
    const decoder = new FakeDecoder();
    started.push(decoder);
    return decoder;
  };
  return { decoders: new Decoders(start), started };
}

beforeEach(() => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
});

test('a decoder that exceeded its time gets no further image, whose result its end would decide', async () => {
  const { decoders, started } = pool();
  const slow = decoders.convert('one', image);
  started[0]?.emit('message', 'ready');
  await vi.advanceTimersByTimeAsync(5050);
  const queued = decoders.convert('two', image);
  await vi.advanceTimersByTimeAsync(100);
  expect(started[0]?.kill).toHaveBeenCalledWith('SIGKILL');
  // Its result was on the way when it was killed.
  started[0]?.emit('message', 'same');
  started[0]?.emit('exit', null, 'SIGKILL');
  started[1]?.emit('message', 'ready');
  started[1]?.emit('message', webp);
  expect(await Promise.all([slow, queued])).toEqual(['same', webp]);
});

test('a decoder that is killed while it starts leaves the queued image to the next one', async () => {
  const { decoders, started } = pool();
  const expired = decoders.convert('one', image);
  await vi.advanceTimersByTimeAsync(3000);
  const queued = decoders.convert('two', image);
  await vi.advanceTimersByTimeAsync(2000);
  expect(started[0]?.kill).toHaveBeenCalledWith('SIGKILL');
  started[0]?.emit('exit', null, 'SIGKILL');
  started[1]?.emit('message', 'ready');
  started[1]?.emit('message', webp);
  expect(await Promise.all([expired, queued])).toEqual(['later', webp]);
});

test('an image is served as it is where no decoder can start', async () => {
  const { decoders, started } = pool();
  const converted = decoders.convert('one', image);
  started[0]?.emit('exit', 1, null);
  expect(await converted).toBe('same');
});

test('an image is converted later when another process kills the decoder that starts for it', async () => {
  const { decoders, started } = pool();
  const converted = decoders.convert('one', image);
  started[0]?.emit('exit', null, 'SIGKILL');
  expect(await converted).toBe('later');
});
