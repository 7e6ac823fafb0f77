// Time from the response of a real edge node until the row is at a reader of the live tail. The reader is connected to
// the second of two API processes, and either one stores the batch.
import { mkdir, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { logs } from '@edgeloom/contract/logs/logs.endpoints.ts';
import { apiClients } from '../support/builders/api-clients.ts';
import { nodeAt, servedSite } from '../support/builders/served-site.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { visit } from '../support/assertions/visit.ts';
import { startOrigin } from '../support/fakes/origin.ts';
import { controlPlane } from '../support/services/control-plane.ts';
import { benchPostgres } from '../support/services/own-postgres.ts';

const GOAL_MS = 2000;
const options = parseArgs({
  options: {
    requests: { type: 'string', default: '100' },
    json: { type: 'string', default: '.data/bench/tail.json' },
  },
}).values;
const loadBefore = loadavg()[0];
const stops: (() => Promise<void>)[] = [];
const stopping = <T extends { stop: () => Promise<void> }>(part: T): T => {
  stops.unshift(() => part.stop());
  return part;
};

try {
  const postgres = stopping(await benchPostgres());
  const plane = stopping(await controlPlane({ databaseUrl: postgres.databaseUrl, apis: 2 }));
  const origin = stopping(await startOrigin());
  const { port, zone, site, name } = await servedSite(plane, origin);
  const { agent } = await nodeAt(plane, zone);
  stopping(agent).start();
  await eventually(async () => {
    const { status } = await visit(port, name, '/ready');
    if (status !== 200) throw new Error(`status ${status}`);
  });

  const second = plane.apis[1] ?? plane.api;
  const reader = apiClients(plane.installation, { url: second.url, adminUrl: second.adminUrl }).as(site.owner);
  const leaving = new AbortController();
  const events = (await reader.call(logs.tail, {}, { signal: leaving.signal }))[Symbol.asyncIterator]();
  await events.next();
  const arrivedAt = new Map<string, number>();
  const reading = (async () => {
    for (;;) {
      const { value, done } = await events.next();
      if (done) return;
      for (const { uri } of value.rows) arrivedAt.set(uri, performance.now());
    }
  })().catch(() => undefined);

  const sentAt = new Map<string, number>();
  for (let i = 0; i < Number(options.requests); i += 1) {
    const uri = `/bench-${i}`;
    await visit(port, name, uri);
    sentAt.set(uri, performance.now());
    // Not in step with the second in which nginx and the agent work.
    await setTimeout(137);
  }
  await eventually(() => {
    const missing = [...sentAt.keys()].filter((uri) => !arrivedAt.has(uri));
    if (missing.length > 0) throw new Error(`${missing.length} rows are missing`);
  });
  leaving.abort();
  await reading;

  const delays = [...sentAt].map(([uri, at]) => (arrivedAt.get(uri) ?? Infinity) - at).toSorted((a, b) => a - b);
  const share = (part: number) =>
    Math.round(delays[Math.min(delays.length - 1, Math.floor(delays.length * part))] ?? 0);
  const result = { requests: delays.length, p50: share(0.5), p99: share(0.99), loadBefore };
  console.log(`${delays.length} requests, from the response at the edge to the event at the reader`);
  console.log(`p50 ${result.p50} ms, p99 ${result.p99} ms. Goal: p99 at most ${GOAL_MS} ms`);
  await mkdir(path.dirname(options.json), { recursive: true });
  await writeFile(options.json, `${JSON.stringify(result, null, 2)}\n`);
} finally {
  for (const stop of stops) await stop();
}
