import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { nothing } from './firewall/driver.ts';
import { Meter } from './meter.ts';

test('packets that the kernel dropped are reported in total and per second between two readings', async () => {
  let packets = 1000;
  const meter = new Meter({
    dir: tmpdir(),
    status: () => Promise.reject(new Error('nginx is not there')),
    dropped: () => {
      packets += 100;
      return Promise.resolve({
        ...nothing(),
        since: '2026-01-01T00:00:00.000Z',
        risk: { packets, bytes: packets * 60 },
      });
    },
  });
  const { dropped } = await meter.load();
  expect(dropped).toMatchObject({ risk: { packets: 1200, bytes: 72_000 }, syn: { packets: 0, perSecond: 0 } });
  expect(dropped?.risk.perSecond).toBeGreaterThan(0);
  const idle = new Meter({
    dir: tmpdir(),
    status: () => Promise.reject(new Error('nginx is not there')),
    dropped: () => Promise.resolve(null),
  });
  expect((await idle.load()).dropped).toBeNull();
});
