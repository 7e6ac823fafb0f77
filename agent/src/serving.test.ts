import { expect, onTestFinished, test, vi } from 'vitest';
import { announceReload } from './serving.ts';

const timeout = new DOMException('The operation was aborted due to timeout', 'TimeoutError');

test('a reload is announced again when nginx did not respond to the announcement in time', async () => {
  const closeConnections = vi.fn<() => Promise<boolean>>().mockRejectedValueOnce(timeout).mockResolvedValueOnce(true);
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const announced = announceReload({ closeConnections });
  await vi.runAllTimersAsync();
  await announced;
  expect(closeConnections).toHaveBeenCalledTimes(2);
});

test('a hanging nginx is reloaded after a few announcements', async () => {
  const closeConnections = vi.fn<() => Promise<boolean>>().mockRejectedValue(timeout);
  await announceReload({ closeConnections });
  expect(closeConnections).toHaveBeenCalledTimes(3);
});

test('an nginx whose Lua knows no announcement is reloaded at once', async () => {
  const closeConnections = vi.fn<() => Promise<boolean>>().mockResolvedValue(false);
  await announceReload({ closeConnections });
  expect(closeConnections).toHaveBeenCalledTimes(1);
});
