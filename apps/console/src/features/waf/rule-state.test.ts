import { expect, test } from 'vitest';
import { exceptionsFor, matchesOf, stateOf } from './rule-state.ts';

const rule = { id: 'sqli-union-select', category: 'sqli', paranoia: 2 };
const firewall = { paranoia: 2, disabledCategories: [], disabledRules: [], exceptions: [] };

test.each([
  ['on', {}],
  ['off', { disabledRules: ['sqli-union-select'] }],
  ['aboveLevel', { paranoia: 1 }],
  ['categoryOff', { disabledCategories: ['sqli'], disabledRules: ['sqli-union-select'] }],
])('a rule is %s', (state, over) => {
  expect(stateOf(rule, { ...firewall, ...over })).toBe(state);
});

test('exceptions for the rule, its category and all rules count until they end', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  const exceptions = [
    { rule: 'sqli-union-select', until: null },
    { rule: 'sqli', until: '2026-01-01T00:00:01Z' },
    { rule: null, until: null },
    { rule: null, until: '2026-01-01T00:00:00Z' },
    { rule: 'xss', until: null },
  ];
  expect(exceptionsFor(rule, { ...firewall, exceptions }, now)).toBe(3);
});

test('a rule that only monitors would block what it noted, except long bodies, which other firewalls let pass', () => {
  const refused = [{ value: 'sqli-union-select', requests: 2 }];
  const noted = ['sqli-union-select', 'protocol-large-body'].map((value) => ({ value, requests: 3 }));
  expect(Object.fromEntries(matchesOf(refused, noted))).toEqual({
    'sqli-union-select': { requests: 5, wouldBlock: 3 },
    'protocol-large-body': { requests: 3, wouldBlock: 0 },
  });
});
