import { sha256 } from '@edgeloom/contract/edge/digest.ts';
import type { DocEntry } from '@edgeloom/contract/edge/messages.ts';
import { expect, test } from 'vitest';
import { plan } from './plan.ts';

const id = '019a0000-0000-7000-8000-000000000001';
const other = '019a0000-0000-7000-8000-000000000002';
const self = { nodeID: id, zoneID: other };
const entry = (key: string, revision: number, doc: object | null): DocEntry => {
  const body = doc === null ? null : JSON.stringify(doc);
  return { key, revision, sha256: sha256(body ?? ''), body };
};
const site = (over: object = {}) => ({
  kind: 'site',
  id,
  status: 'normal',
  cacheVersion: 0,
  cacheRules: [],
  staleIfError: 0,
  ...over,
});
const node = (nodeID: string) => ({ kind: 'node', id: nodeID, enabled: true, cacheMaxBytes: 0 });
const none = () => undefined;

test('a site is data, the zone and the own node are structure, and what is known is nothing', () => {
  const sent = entry(`site/${id}`, 1, site());
  expect(plan(none, [sent], self)).toMatchObject({ effect: 'data', data: [sent], structure: [], rejected: [] });
  expect(plan(none, [entry(`node/${id}`, 1, node(id))], self)).toMatchObject({ effect: 'structure', data: [] });
  expect(plan(() => sent, [sent], self)).toMatchObject({ effect: 'none' });
  expect(plan(() => ({ ...sent, revision: 0 }), [sent], self)).toMatchObject({ effect: 'data' });
});

test("other nodes' documents are passed over", () => {
  expect(plan(none, [entry(`node/${other}`, 1, node(other))], self)).toEqual({
    effect: 'none',
    data: [],
    structure: [],
    rejected: [],
  });
});

test('the last good document of a key counts, and a later bad one is reported', () => {
  const [first, second] = [entry(`site/${id}`, 1, site()), entry(`site/${id}`, 2, site({ status: 'pause' }))];
  const bad = entry(`site/${id}`, 3, site({ status: 'asleep' }));
  expect(plan(none, [first, second], self).data).toEqual([second]);
  expect(plan(none, [first, bad, second], self)).toMatchObject({ data: [second], rejected: [] });
  expect(plan(none, [second, bad], self)).toMatchObject({
    data: [second],
    rejected: [{ key: `site/${id}`, revision: 3, error: expect.stringContaining('status') }],
  });
});

test('documents of later versions are kept, and reported when this agent lacks a required capability', () => {
  const later = entry('tomorrow', 1, { kind: 'tomorrow' });
  expect(plan(none, [later], self)).toEqual({ effect: 'data', data: [later], structure: [], rejected: [] });
  const closed = entry(`site/${id}`, 2, site({ needs: ['bouncer'] }));
  const error = 'this agent is too old for bouncer: closed until it is upgraded';
  const reported = [{ key: closed.key, revision: 2, error, sha256: closed.sha256 }];
  expect(plan(none, [closed], self)).toEqual({ effect: 'data', data: [closed], structure: [], rejected: reported });
  expect(plan(none, [closed, entry(`site/${id}`, 3, site())], self)).toMatchObject({ rejected: [] });
});

test('structure that came after this agent is refused: what was there before goes on', () => {
  const closed = entry(`node/${id}`, 1, { ...node(id), needs: ['bouncer'] });
  expect(plan(none, [closed], self)).toMatchObject({ effect: 'none', rejected: [{ key: closed.key }] });
});

test('a body that is not what its hash says, or not what its key says, is refused', () => {
  const sent = entry(`site/${id}`, 1, site());
  const bodies = [`${sent.body} `, null];
  for (const body of bodies) {
    expect(plan(none, [{ ...sent, body }], self).rejected).toMatchObject([
      { error: 'the body does not match its hash' },
    ]);
  }
  expect(plan(none, [entry(`site/${other}`, 1, site())], self).rejected).toMatchObject([
    { key: `site/${other}`, error: `the document of site/${other} says it is site/${id}` },
  ]);
});

test('the zone document of another zone is refused', () => {
  const zone = {
    kind: 'zone',
    id: other,
    ports: [],
    http2: true,
    tlsProtocols: ['TLSv1.3'],
    worker: { processes: 0, connections: 1024 },
    cache: { maxBytes: 0, keyBytes: 1_000_000, inactiveSeconds: 60 },
    maxBodyBytes: 0,
    originPolicy: { deny: [], allow: [] },
  };
  expect(plan(none, [entry('zone', 1, zone)], self)).toMatchObject({ effect: 'structure', rejected: [] });
  expect(plan(none, [entry('zone', 1, { ...zone, id })], self)).toMatchObject({
    effect: 'none',
    rejected: [{ key: 'zone', error: `this node is not in zone ${id}` }],
  });
});

test('a removed document is deleted even if it is unknown, but a zone is never deleted', () => {
  const gone = entry('host/a.example.com', 2, null);
  expect(plan(none, [gone], self)).toMatchObject({ effect: 'data', data: [gone] });
  expect(plan(none, [entry('zone', 2, null)], self)).toMatchObject({
    effect: 'none',
    rejected: [{ key: 'zone', error: 'a zone document cannot be removed' }],
  });
});
