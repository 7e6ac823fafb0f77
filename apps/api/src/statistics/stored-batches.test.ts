import { afterEach, expect, test, vi } from 'vitest';
import { watchBatches } from './stored-batches.ts';

const channels = vi.hoisted((): Record<string, (payload?: string) => void> => ({}));
vi.mock('../core/listen.ts', () => ({
  listen: (_url: string, given: typeof channels) => {
    Object.assign(channels, given);
    return { stop: async () => undefined };
  },
}));
afterEach(() => vi.restoreAllMocks());

test('a watcher is ready at a notification that arrives before the listener reports that it listens', () => {
  const calls: string[] = [];
  const stop = watchBatches(
    { env: { DATABASE_URL: 'postgres://test' } },
    { onReady: () => calls.push('ready'), onBatch: ({ zone }) => calls.push(zone) },
  );
  channels['log_batches']?.(JSON.stringify({ zone: 'z', transaction: '1', from: 0, to: 0, lines: 1 }));
  expect(calls).toEqual(['ready', 'z']);
  stop();
});
