import { MonitorReport } from '@edgeloom/contract/edge/monitors.ts';
import type { MonitorCheck, MonitorReply, MonitorResult } from '@edgeloom/contract/edge/monitors.ts';
import type { Refused } from '@edgeloom/contract/edge/messages.ts';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Reporter } from './reporter.ts';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const identity = { nodeID: '0190c2d0-0000-7000-8000-00000000000a', natsServers: [], jwt: '', seed: new Uint8Array() };
const nodeID = '0190c2d0-0000-7000-8000-000000000001';
const check: MonitorCheck = {
  nodeID,
  version: 'v',
  ip: '192.0.2.1',
  type: 3,
  url: null,
  port: 80,
  content: null,
  interval: 30,
  host: null,
  tlsName: null,
  userAgent: '',
  status: null,
  timeout: 5,
};
const failing: MonitorResult = { nodeID, version: 'v', failures: 3, successes: 0, tookMs: 1, error: 'no response' };

/** A reporter, and a control plane that has one check for it. */
function startReporter() {
  vi.useFakeTimers();
  const sent: MonitorReport[] = [];
  const followed: string[][] = [];
  const state = { isReachable: true, refusal: null as Refused | null };
  const replyTo = ({ plan }: MonitorReport): MonitorReply | Refused =>
    state.refusal ?? (plan === 'plan' ? { plan } : { plan: 'plan', checks: [check] });
  const connection = {
    request: (_: string, message: string) => {
      const report = MonitorReport.parse(JSON.parse(message));
      sent.push(report);
      if (!state.isReachable) return Promise.reject(new Error('TIMEOUT'));
      return Promise.resolve({ json: () => replyTo(report) });
    },
    isClosed: () => false,
    close: () => Promise.resolve(),
  };
  const follow = (checks: readonly MonitorCheck[]) => void followed.push(checks.map((one) => one.nodeID));
  const reporter = new Reporter(identity, follow, log, () => Promise.resolve(connection));
  onTestFinished(async () => {
    vi.useRealTimers();
    await reporter.stop();
  });
  return { reporter, sent, followed, state };
}
const later = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1000);
const resultsOf = (reports: MonitorReport[]) => reports.flatMap(({ results }) => results);

test('a new finding is sent after a report that was answered', async () => {
  const { reporter, sent } = startReporter();
  await later(1);
  const before = sent.length;
  reporter.add(failing, true);
  await later(1);
  expect(sent.slice(before).map(({ results }) => results)).toEqual([[], [failing]]);
});

test('what a monitor found while its own network was down is never sent, and its checks start again', async () => {
  const { reporter, sent, followed, state } = startReporter();
  await later(1);
  expect(followed).toEqual([[nodeID]]);
  state.isReachable = false;
  reporter.add(failing, true);
  await later(60);
  expect(followed.at(-1)).toEqual([]);
  state.isReachable = true;
  await later(10);
  expect(followed.at(-1)).toEqual([nodeID]);
  expect(resultsOf(sent)).toEqual([]);
  reporter.add(failing, true);
  await later(1);
  expect(resultsOf(sent)).toEqual([failing]);
});

test('a monitor that the control plane does not know ends its checks', async () => {
  const { followed, state } = startReporter();
  await later(1);
  state.refusal = { refused: 'this is no monitor' };
  await later(10);
  expect(followed.at(-1)).toEqual([]);
});
