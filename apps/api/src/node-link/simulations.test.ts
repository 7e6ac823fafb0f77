import type { Replayed, ReplayedRequest, Simulated } from '@edgeloom/contract/edge/simulated.ts';
import { expect, test } from 'vitest';
import type { Answer, Order } from './commands.ts';
import { replayOnAny, simulateOnAny } from './simulations.ts';

const request: ReplayedRequest = {
  scheme: 'http',
  port: 80,
  method: 'GET',
  host: 'www.example.com',
  path: '/',
  headers: [],
  ip: '192.0.2.1',
};
const passed: Replayed = { siteID: null, status: 200, end: null };
const reply = { id: crypto.randomUUID(), error: null, tookMs: 1, objects: 0 };
const pageOf = ({ body }: Order): unknown[] =>
  body && 'requests' in body && Array.isArray(body.requests) ? body.requests : [];
const replays = (order: Order): Answer => ({ ...reply, ok: true, replayed: pageOf(order).map(() => passed) });

const silent = { warn: () => undefined };

/** Replays requests with nodes that answer in this way. */
async function replayWith(answers: Record<string, (order: Order) => Answer>, requests: ReplayedRequest[]) {
  const pages: [string, number][] = [];
  const order = (id: string, sent: Order) => {
    pages.push([id, pageOf(sent).length]);
    return Promise.resolve(answers[id]?.(sent) ?? 'away');
  };
  const nodes = Object.keys(answers).map((id) => ({ id }));
  const results = await replayOnAny(order, nodes, { requests, docs: {} }, silent);
  return { results: results.length, pages };
}

test('only nodes that are too old for a replay are an error of the version', async () => {
  const unknown = (): Answer => ({ ...reply, ok: false, error: 'unknown', unknown: true });
  // Releases before drafted lists refuse the document of one.
  const error = 'list/0198f2b0-5f6e-7000-8000-000000000001 cannot be part of a simulation';
  const refusesLists = (): Answer => ({ ...reply, ok: false, error });
  for (const answer of [unknown, refusesLists, (): Answer => 'unsubscribed'])
    await expect(replayWith({ old: answer }, [request])).rejects.toMatchObject({ reason: 'NODE_VERSION_MISMATCH' });
  expect(await replayWith({ old: unknown, new: replays }, [request])).toEqual({
    results: 1,
    pages: [
      ['old', 1],
      ['new', 1],
    ],
  });
});

test('a page has two hundred requests, or fewer large ones', async () => {
  const large = { ...request, path: `/${'a'.repeat(8000)}` };
  const small = await replayWith(
    { node: replays },
    Array.from({ length: 201 }, () => request),
  );
  expect(small.pages.map(([, count]) => count)).toEqual([200, 1]);
  const { results, pages } = await replayWith(
    { node: replays },
    Array.from({ length: 50 }, () => large),
  );
  expect(results).toBe(50);
  for (const [, count] of pages) expect(count * 8000).toBeLessThan(160 * 1024);
});

test('the results of a node that goes away are kept', async () => {
  const leaving = (order: Order): Answer => (pageOf(order).length === 200 ? replays(order) : 'silent');
  const sent = Array.from({ length: 250 }, () => request);
  expect((await replayWith({ leaving, other: replays }, sent)).results).toBe(200);
});

test('a body is simulated by a node that sends it, and by none that is too old for bodies', async () => {
  const empty: Simulated = { revision: 1, siteID: null, status: 200, headers: [], asked: null, steps: [] };
  const simulateWith = (simulated: Record<string, Simulated>, body?: string) => {
    const order = (id: string): Promise<Answer> => Promise.resolve({ ...reply, ok: true, simulated: simulated[id] });
    const nodes = Object.keys(simulated).map((id) => ({ id }));
    const answer = { status: 200, headers: [] };
    return simulateOnAny(order, nodes, { ...request, answer, ...(body !== undefined && { body }) }, silent);
  };
  expect((await simulateWith({ old: empty })).node.id).toBe('old');
  expect((await simulateWith({ old: empty, new: { ...empty, hasBody: true } }, 'YQ==')).node.id).toBe('new');
  await expect(simulateWith({ old: empty }, '')).rejects.toMatchObject({ reason: 'NODE_VERSION_MISMATCH' });
});
