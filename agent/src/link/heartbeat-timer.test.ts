import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { HeartbeatTimer } from './heartbeat-timer.ts';

const INTERVAL_MS = 30_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Heartbeats without a reply until the test resolves it. */
function startHeartbeats() {
  const replies: PromiseWithResolvers<number>[] = [];
  const timer = new HeartbeatTimer(() => {
    const reply = Promise.withResolvers<number>();
    replies.push(reply);
    return reply.promise;
  });
  timer.start();
  return { timer, replies };
}

test('a heartbeat follows the previous one after its pause', async () => {
  const { replies } = startHeartbeats();
  await vi.advanceTimersByTimeAsync(0);
  replies[0]?.resolve(INTERVAL_MS);
  await vi.advanceTimersByTimeAsync(INTERVAL_MS - 1);
  expect(replies).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(replies).toHaveLength(2);
});

// Its timer was once replaced by the timer of the one under way.
test('an urgent heartbeat is sent right after the one that ends at the same time', async () => {
  const { timer, replies } = startHeartbeats();
  await vi.advanceTimersByTimeAsync(0);
  replies[0]?.resolve(INTERVAL_MS);
  timer.sendNow();
  await vi.advanceTimersByTimeAsync(1);
  expect(replies).toHaveLength(2);
});

// Two of them once arrived in any order, so that the older one could hide the news.
test('an urgent heartbeat waits for the reply to the one under way', async () => {
  const { timer, replies } = startHeartbeats();
  await vi.advanceTimersByTimeAsync(0);
  timer.sendNow();
  await vi.advanceTimersByTimeAsync(1);
  expect(replies).toHaveLength(1);
  replies[0]?.resolve(INTERVAL_MS);
  await vi.advanceTimersByTimeAsync(1);
  expect(replies).toHaveLength(2);
  replies[1]?.resolve(INTERVAL_MS);
  await vi.advanceTimersByTimeAsync(1);
  expect(replies).toHaveLength(2);
});

test('an urgent heartbeat replaces the pause before the next one', async () => {
  const { timer, replies } = startHeartbeats();
  await vi.advanceTimersByTimeAsync(0);
  replies[0]?.resolve(INTERVAL_MS);
  await vi.advanceTimersByTimeAsync(1);
  timer.sendNow();
  await vi.advanceTimersByTimeAsync(1);
  expect(replies).toHaveLength(2);
});

test('no heartbeat follows a stop, and a start during the last one sends another', async () => {
  const { timer, replies } = startHeartbeats();
  await vi.advanceTimersByTimeAsync(0);
  timer.stop();
  timer.sendNow();
  replies[0]?.resolve(0);
  await vi.advanceTimersByTimeAsync(INTERVAL_MS);
  expect(replies).toHaveLength(1);
  timer.start();
  await vi.advanceTimersByTimeAsync(1);
  timer.stop();
  timer.start();
  replies[1]?.resolve(INTERVAL_MS);
  await vi.advanceTimersByTimeAsync(1);
  expect(replies).toHaveLength(3);
});
