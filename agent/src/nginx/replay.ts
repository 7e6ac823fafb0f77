// Simulates logged requests again, with the documents of an unsaved change.
import { randomUUID } from 'node:crypto';
import type { ReplayCommand, Replayed, ReplayedRequest, Simulated } from '@edgeloom/contract/edge/simulated.ts';
import { concurrentMap } from '../concurrent-map.ts';
import type { Admin } from './admin.ts';
import { docsOf, simulateOrder } from './simulate.ts';

/** Visitors have the other workers and most of the time of these. */
const CONCURRENT_REQUESTS = 8;
const ANSWER = { status: 200, headers: [['Content-Type', 'text/html; charset=utf-8']] };
/** Decisions that end a request. */
const ENDS = ['refused', 'closed', 'redirected', 'answered', 'failed'];

type Command = Pick<ReplayCommand, 'requests' | 'docs'>;

/** The API waits as long for an answer (apps/api/src/node-link/simulations.ts). */
const MAX_MS = 20_000;

/** The commands of several replays take turns. One whose time ran out before its turn fails. */
export function createReplays(admin: Admin, socket: string) {
  let previous: Promise<unknown> = Promise.resolve();
  return (replay: Command, withinMs: number): Promise<(Replayed | null)[]> => {
    const end = performance.now() + Math.min(withinMs, MAX_MS);
    const current = previous.then(() => run(admin, socket, replay, end));
    previous = current.catch(() => undefined);
    return current;
  };
}

async function run(admin: Admin, socket: string, { requests, docs }: Command, end: number) {
  const leftMs = () => Math.ceil(end - performance.now());
  if (leftMs() <= 0) throw new Error('the replays before it took too long');
  // nginx holds the documents once for all requests.
  const draft = randomUUID();
  await admin.simulate(draft, { docs: docsOf(docs) });
  const results: (Replayed | null)[] = requests.map(() => null);
  try {
    await concurrentMap(requests, CONCURRENT_REQUESTS, async (request, i) => {
      if (leftMs() > 0) results[i] = await simulateOne(admin, socket, request, draft, leftMs()).catch(() => null);
    });
    return results;
  } finally {
    await admin.simulated(draft);
  }
}

async function simulateOne(admin: Admin, socket: string, request: ReplayedRequest, draft: string, withinMs: number) {
  const { scheme, port } = request;
  const order = { scheme, port, answer: ANSWER, draft };
  return resultOf(await simulateOrder(admin, socket, request, order, withinMs));
}

/** The choice of an origin, and what it answers, is no decision about the visitor. A refused name has no status. */
function resultOf({ siteID, status, steps }: Omit<Simulated, 'revision'>): Replayed {
  const found = steps.find(({ step, decision, detail }) => {
    if (step === 'origin' || step === 'keep') return false;
    return ENDS.includes(decision) && (detail['status'] !== undefined || step === 'host');
  });
  return {
    siteID,
    status: found?.decision === 'closed' ? null : status,
    end: found ? { step: found.step, decision: found.decision, rule: found.rule } : null,
  };
}
