import { expect, test } from 'vitest';
import { SiteAntiCCInput } from '@edgeloom/contract/site-anti-cc/site-anti-cc.ts';
import { antiCCFaults, attackRule, isAttackRule, newAntiCC, type AntiCCRule } from './anti-cc-drafts.ts';

const rule = (mode: AntiCCRule['mode'], priority: number): AntiCCRule => ({
  ...SiteAntiCCInput.parse({ mode, priority }),
  endsAt: null,
  id: `${mode}-${priority}`,
  createdAt: '',
  updatedAt: '',
});
const endsAt = '2030-01-01T00:00:00.000Z';
const priorityAmong = (...rules: AntiCCRule[]) => attackRule(rules, endsAt).priority;

test('the rule of an attack comes after exempting rules at the top and before all others', () => {
  expect(priorityAmong()).toBe(0);
  expect(priorityAmong(rule(1, 5))).toBe(0);
  expect(priorityAmong(rule(0, 3), rule(0, 4), rule(1, 7))).toBe(4);
  expect(priorityAmong(rule(0, 3))).toBe(3);
  // An older rule of the same priority would come first.
  expect(priorityAmong(rule(0, 3), rule(1, 3))).toBe(2);
});

test('the switch finds its rule until the rule ends', () => {
  const made = { ...rule(1, 0), ...attackRule([], endsAt), id: 'x' };
  expect(isAttackRule(made, new Date('2029-12-31'))).toBe(true);
  expect(isAttackRule(made, new Date('2030-01-02'))).toBe(false);
  expect(isAttackRule({ ...made, enabled: false }, new Date('2029-12-31'))).toBe(false);
});

test('a new rule is valid, and a slow pattern is not', () => {
  expect(antiCCFaults(newAntiCC())).toEqual({});
  expect(Object.keys(antiCCFaults({ ...newAntiCC(), urlRegex: '(a+)+' }))).toEqual(['urlRegex']);
});
