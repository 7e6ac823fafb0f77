import { codedMessage } from '@edgeloom/contract/rollouts/messages.ts';
import { expect, test } from 'vitest';
import { bannerText, figuresOf, nodesText, messageText, whatOf, type Gate, type Rollout } from './format.ts';

const NOW = Date.parse('2026-11-23T12:00:00.000Z');
const wave = (soakEndsAt: string): Rollout['waves'][number] => ({
  position: 0,
  percent: null,
  state: 'soaking',
  nodes: 1,
  updated: 1,
  startedAt: '2026-11-23T11:59:00.000Z',
  soakEndsAt,
  endedAt: null,
  gates: [],
});
const rollout = (soakEndsAt: string): Rollout => ({
  id: '1',
  kind: 'release',
  product: 'agent',
  version: '1.1.0',
  title: 'agent 1.1.0',
  state: 'running',
  zones: [],
  strategy: { type: 'allAtOnce' },
  fast: false,
  reason: '',
  wave: 0,
  waves: [wave(soakEndsAt)],
  counts: { total: 1, updated: 1, updating: 0, away: 0, failed: 0, rolledBack: 0 },
  fault: null,
  message: null,
  messageCode: null,
  createdBy: 'someone',
  createdAt: '2026-11-23T11:58:00.000Z',
  endedAt: null,
});

test('the banner of a wave whose time is over names no remaining time', () => {
  const text = (soakEndsAt: string) => bannerText(rollout(soakEndsAt), NOW, (word) => word, 'en');
  expect(text('2026-11-23T12:00:05.000Z')).toBe('rollouts.banner.soaking');
  expect(text('2026-11-23T11:59:59.000Z')).toBe('rollouts.banner.updating');
});

// Regression: the text was "0 of 0 nodes".
test('a wave without nodes has its own text', () => {
  const t = (word: string, values?: object) => `${word} ${JSON.stringify(values ?? {})}`;
  expect(nodesText({ nodes: 0, updated: 0 }, t)).toBe('rollouts.wave.nobody {}');
  expect(nodesText({ nodes: 3, updated: 1 }, t)).toBe('rollouts.wave.nodes {"count":3,"updated":"1"}');
});

test('a failed gate shows how many customers it affects, and a passed one only in its message', () => {
  const gate: Gate = {
    gate: 'serverErrors',
    state: 'failed',
    nodeID: null,
    nodeName: null,
    value: 0.4,
    limit: 0.05,
    before: null,
    others: null,
    requests: 100,
    customers: 3,
    message: null,
    messageCode: null,
  };
  const t = (word: string, values?: object) => `${word} ${JSON.stringify(values ?? {})}`;
  expect(figuresOf(gate, t)).toContain('rollouts.gate.customers {"customers":"3"}');
  expect(figuresOf({ ...gate, state: 'passed' }, t)).not.toContain('customers');
  const text = (code: 'serverErrors' | 'fewCustomers') =>
    messageText({ messageCode: codedMessage(code, { value: 0.4, customers: 2 }), message: null }, t, 'en');
  expect(text('serverErrors')).toContain('rollouts.gate.customers {"customers":"2"}');
  expect(text('fewCustomers')).toMatch(/^rollouts\.messages\.fewCustomers .*"customers":"2"/);
  expect(text('fewCustomers')).not.toContain('gate.customers');
});

test('a zone change is named by its zone and the version of the settings', () => {
  const phraseValues: unknown[] = [];
  const what = { product: null, version: null };
  const t = (word: string, values: unknown) => {
    phraseValues.push(values);
    return word;
  };
  expect(whatOf({ ...what, title: 'Demo zone 2' }, t)).toBe('rollouts.what.zone');
  expect(whatOf({ ...what, title: 'Demo 7 12' }, t)).toBe('rollouts.what.zone');
  expect(phraseValues).toEqual([
    { zone: 'Demo zone', version: '2' },
    { zone: 'Demo 7', version: '12' },
  ]);
  expect(whatOf({ ...what, title: 'unversioned' }, t)).toBe('unversioned');
});
