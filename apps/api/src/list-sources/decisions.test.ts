import { expect, test } from 'vitest';
import { durationMs, parseDecisions } from './decisions.ts';

const NOW = Date.parse('2026-11-30T00:00:00Z');
const ban = (value: string, over: object = {}) => ({
  id: 7,
  origin: 'cscli',
  scenario: "manual 'ban' from 'localhost'",
  type: 'ban',
  scope: value.includes('/') ? 'Range' : 'Ip',
  value,
  duration: '3h59m1.5s',
  ...over,
});
const parse = (decisions: unknown) => parseDecisions(JSON.stringify({ new: decisions, deleted: null }), 1000, NOW);
const HOUR = 3_600_000;

test('bans of addresses and networks end when their durations end', () => {
  expect(parse([ban('198.51.100.0/24', { scope: 'range' }), ban('2001:DB8::1'), ban('203.0.113.7')])).toEqual({
    entries: ['198.51.100.0/24', '203.0.113.7', '2001:db8::1'].map((text) => ({ text, until: NOW + 14_341_500 })),
    rejected: 0,
  });
});

test('of two bans of one address, the longer one counts', () => {
  const [short, long] = [ban('203.0.113.7', { duration: '1h0m0s' }), ban('203.0.113.7/32', { duration: '2h0m0s' })];
  for (const decisions of [
    [short, long],
    [long, short],
  ])
    expect(parse(decisions)).toEqual({ entries: [{ text: '203.0.113.7', until: NOW + 2 * HOUR }], rejected: 0 });
});

test('other decisions are rejected, and ended ones left out', () => {
  const others = [
    ban('203.0.113.8', { type: 'captcha' }),
    ban('TW', { scope: 'Country' }),
    ban('10.0.0.1'),
    ban('0.0.0.0/0'),
    ban('203.0.113.8', { duration: 'soon' }),
    ban('203.0.113.8', { simulated: true }),
    null,
  ];
  const ended = [ban('203.0.113.9', { duration: '-1m3s' }), ban('203.0.113.9', { duration: '0s' })];
  expect(parse([...others, ...ended, ban('203.0.113.7', { duration: '999999999h' })])).toEqual({
    entries: [{ text: '203.0.113.7', until: Infinity }],
    rejected: others.length,
  });
});

test('no decisions are an empty list, and other text is none', () => {
  for (const none of [null, []]) expect(parse(none)).toEqual({ entries: [], rejected: 0 });
  for (const text of ['', '<html>', '[]', 'null', '{"message":"access forbidden"}', '{"new":{}}'])
    expect(parseDecisions(text, 1000, NOW)).toBe('unreadable');
  expect(parseDecisions(JSON.stringify({ new: [ban('203.0.113.7'), ban('203.0.113.8')] }), 1, NOW)).toBe(
    'tooManyEntries',
  );
});

test.each([
  ['167h59m58s', 604_798_000],
  ['1.5s', 1500],
  ['250ms', 250],
  ['1m0.25s', 60_250],
  ['-2h0m0s', -7_200_000],
  ['0s', 0],
  ['0', 0],
  ['3h 59m', null],
  ['', null],
  ['h', null],
  ['1d', null],
])('the duration %j is %j milliseconds', (text, ms) => {
  expect(durationMs(text)).toBe(ms);
});
