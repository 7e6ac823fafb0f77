import type { NodeDoc, ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import { expect, onTestFinished, test, vi } from 'vitest';
import { eventually } from '../../../tests/support/assertions/eventually.ts';
import { zoneDoc } from '../../../tests/support/services/edge.ts';
import { HostSettings } from './host-settings.ts';

const id = '0192d3f0-0000-7000-8000-000000000000';
const zone: ZoneDoc = zoneDoc({ http: 80, https: 443 });
const nodeOf = (over: Partial<NodeDoc>): NodeDoc => ({ kind: 'node', id, enabled: true, cacheMaxBytes: 0, ...over });

function settings(
  node: NodeDoc,
  {
    lastRotation = null,
    fails = false,
    over = {},
  }: { lastRotation?: Date | null; fails?: boolean; over?: Partial<ZoneDoc> } = {},
) {
  const done: string[] = [];
  const silent = () => undefined;
  const own = new HostSettings({
    read: () => Promise.resolve({ zone: { ...zone, ...over }, node }),
    geneva: {
      apply: (geneva, ports) => {
        if (fails) return Promise.reject(new Error('nft: not permitted'));
        done.push(`geneva ${geneva?.packetSize} ${ports.join(' ')}`);
        return Promise.resolve();
      },
      isApplied: () => Promise.resolve(true),
    },
    firewall: { follow: (lists) => Promise.resolve(void done.push(`allow ${lists?.whitelist.join(' ') ?? 'all'}`)) },
    sockets: () => [],
    trusted: () => [],
    rotate: () => Promise.resolve(void done.push('rotate')),
    lastRotation: () => Promise.resolve(lastRotation),
    drained: () => void done.push('drained'),
    log: { info: silent, warn: silent, error: silent },
  });
  onTestFinished(() => own.stop());
  return { own, done };
}

test('logs are set aside when their time has come, and not before', async () => {
  const hourAgo = new Date(Date.now() - 3_600_000);
  const due = settings(nodeOf({ logRotateSeconds: 1800 }), { lastRotation: hourAgo });
  await eventually(() => expect(due.done).toContain('rotate'));
  const early = settings(nodeOf({ logRotateSeconds: 86_400 }), { lastRotation: hourAgo });
  const never = settings(nodeOf({}), { lastRotation: hourAgo });
  await Promise.all([early.own.stop(), never.own.stop()]);
  expect([...early.done, ...never.done]).not.toContain('rotate');
});

test('rules for first packets are applied once, and a machine that refuses them reports the error', async () => {
  const geneva = { packetSize: 536, windowSize: null };
  const { own, done } = settings(nodeOf({ geneva }));
  own.check();
  own.check();
  await own.stop();
  expect(done.filter((one) => one.startsWith('geneva'))).toEqual(['geneva 536 80 443']);
  const refusing = settings(nodeOf({ geneva }), { fails: true });
  await refusing.own.stop();
  expect(refusing.own.error).toBe('nft: not permitted');
});

test('the end of a drain is reported without another check', async () => {
  const drainUntil = new Date(Date.now() + 100).toISOString();
  const { done } = settings(nodeOf({ enabled: false, drainUntil }));
  await eventually(() => expect(done).toContain('drained'));
});

test('a drain that ends before the agent looks at it is ended all the same, once', async () => {
  const drainUntil = new Date(Date.now() - 1).toISOString();
  const { own, done } = settings(nodeOf({ enabled: false, drainUntil }));
  await eventually(() => expect(done).toContain('drained'));
  own.check();
  await own.stop();
  expect(done.filter((one) => one === 'drained')).toEqual(['drained']);
});

test('a check between the end of a drain and its late timer does not lose the end', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const drainUntil = new Date(Date.now() + 1000).toISOString();
  const { own, done } = settings(nodeOf({ enabled: false, drainUntil }));
  await vi.advanceTimersByTimeAsync(0);
  // The machine stalls: the clock passes the end, and the timer is not called yet.
  vi.setSystemTime(Date.now() + 2000);
  own.check();
  await vi.advanceTimersByTimeAsync(500);
  expect(done.filter((one) => one === 'drained')).toEqual(['drained']);
});

test('the kernel lets proxies in that the zone trusts, whatever its lists say', async () => {
  const visitorAddress = { networks: ['192.0.2.0/24'], header: 'X-Real-IP' };
  const firewall = { level: 0 as const, whitelist: ['203.0.113.7'], blacklist: ['192.0.2.1'], synProtection: false };
  const { done } = settings(nodeOf({}), { over: { visitorAddress, firewall } });
  await eventually(() => expect(done).toContain('allow 192.0.2.0/24 203.0.113.7'));
});
