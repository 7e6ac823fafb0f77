import { expect, onTestFinished, test, vi } from 'vitest';
import { KernelCopy } from './kernel-copy.ts';

/** A firewall that refuses while it is broken, and keeps what it refused. */
class BrokenKernel {
  canDrop = true;
  isBroken = true;
  calls = 0;
  readonly #settle = () => {
    this.calls += 1;
    return this.isBroken ? Promise.reject(new Error('nft: no such table')) : Promise.resolve();
  };
  replaceBlocked = this.#settle;
  changeBlocked = this.#settle;
}

const blocks = new Map([['198.51.100.1', { until: Number.POSITIVE_INFINITY, cause: 'waf' }]]);

// Once, the error of a repaired firewall was reported until the next block.
test('the error of a repaired firewall is gone without another block', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const kernel = new BrokenKernel();
  const copy = new KernelCopy(kernel);
  await copy.send(blocks);
  expect(copy.fault).toBe('nft: no such table');
  kernel.isBroken = false;
  vi.setSystemTime(Date.now() + 10_000);
  await copy.send(blocks);
  expect(copy.fault).toBe('');
});

test('a kernel that keeps failing is retried every ten seconds', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const kernel = new BrokenKernel();
  const copy = new KernelCopy(kernel);
  for (let second = 0; second < 25; second += 1) {
    await copy.send(blocks);
    vi.setSystemTime(Date.now() + 1000);
  }
  expect(kernel.calls).toBe(3);
  expect(copy.fault).toBe('nft: no such table');
});

test('a kernel that drops packets later is no error any more', async () => {
  const kernel = new BrokenKernel();
  Object.assign(kernel, { canDrop: false, isBroken: false });
  const copy = new KernelCopy(kernel);
  await copy.send(blocks);
  expect(copy.fault).toContain('drops no packets');
  kernel.canDrop = true;
  expect(copy.fault).toBe('');
});
