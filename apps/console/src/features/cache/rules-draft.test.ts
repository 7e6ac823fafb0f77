import { describe, expect, test } from 'vitest';
import { changesOf, draftOf, moved, planOf, prioritiesOf } from '../../components/rules/drafts.ts';
import { valuesOf } from '../../components/rules/path-condition.tsx';
import { secondsOf, inLargestUnit } from './cache-time.ts';
import { faultsOf, fieldsOf, isPlain, newRule, staticFiles, type Rule } from './rules-draft.ts';

const rule = (n: number, priority: number): Rule => ({
  id: `01990000-0000-7000-8000-00000000000${n}`,
  type: 'prefix',
  value: [`/${n}/`],
  cacheTime: 60,
  honourOrigin: false,
  minTime: null,
  maxTime: null,
  browserTime: null,
  staleWhileRevalidate: null,
  staleIfError: null,
  query: 'all',
  queryNames: [],
  cookies: 'none',
  cookieNames: [],
  passCookies: [],
  stripCookies: false,
  slices: false,
  overrideOrigin: false,
  priority,
  enabled: true,
  createdAt: '2026-01-01T00:00:00Z',
  updatedAt: '2026-01-01T00:00:00Z',
});
const live = draftOf([rule(1, 10), rule(2, 20), rule(3, 30)]);
const [first, second, third] = live;
if (!first || !second || !third) throw new Error('three rules');
const words = (draft: typeof live) => changesOf(live, draft, fieldsOf, (word) => word);

test('nothing changed publishes nothing', () => {
  expect(words(live)).toEqual([]);
  expect(planOf(live, [...live], fieldsOf)).toEqual({ create: [], created: [], update: [], remove: [] });
});

describe('order', () => {
  test('a rule that moves up is renumbered with as few others as can be', () => {
    const draft = moved(live, third.key, 0);
    expect(draft.map(({ key }) => key)).toEqual([third.key, first.key, second.key]);
    expect(prioritiesOf(draft)).toEqual([30, 31, 32]);
    expect(planOf(live, draft, fieldsOf).update.map(({ id, priority }) => [id, priority])).toEqual([
      [first.id, 31],
      [second.id, 32],
    ]);
    expect(words(draft)).toEqual(['shared.rules.reordered']);
  });

  test('a rule added at the end comes after the last', () =>
    expect(prioritiesOf([...live, newRule()])).toEqual([10, 20, 30, 31]));

  test('numbers never pass what the API takes', () => {
    const full = draftOf([rule(1, 9999), rule(2, 10_000)]);
    const numbers = prioritiesOf([...full, newRule()]);
    expect(numbers).toEqual([10, 20, 30]);
  });

  test('nothing moves past an end of the list', () => {
    expect(moved(live, first.key, -1)).toEqual(live);
    expect(moved(live, third.key, 3)).toEqual(live);
  });
});

test('a changed, a switched, a removed and a new rule each appear in the summary and as a call', () => {
  const draft = [{ ...first, cacheTime: 0 }, { ...second, enabled: false }, newRule({ value: ['/new/'] })];
  expect(words(draft)).toEqual([
    'shared.rules.changed',
    'shared.rules.turnedOff',
    'shared.rules.added',
    'shared.rules.removed',
  ]);
  const plan = planOf(live, draft, fieldsOf);
  expect(plan.create).toHaveLength(1);
  expect(plan.update.map(({ id }) => id)).toEqual([first.id, second.id]);
  expect(plan.remove).toEqual([third.id]);
});

test('faults are those of the contract', () => {
  expect(faultsOf(staticFiles())).toEqual({});
  expect(faultsOf(newRule())).toMatchObject({ value: { rule: 'required' } });
  expect(faultsOf(newRule({ value: ['no slash'] }))).toMatchObject({
    value: { message: 'a path starts with / and names no host' },
  });
  expect(faultsOf(newRule({ type: 'regex', value: ['(a+)+'] })).value?.message).toContain('repeat');
  expect(faultsOf(newRule({ value: ['/a/'], query: 'listed' }))).toMatchObject({ queryNames: { message: 'required' } });
});

test('what does not count any more is not published', () => {
  const was = newRule({ value: ['/a/'], cookieNames: ['lang'], minTime: 5 });
  expect(planOf([], [was], fieldsOf).create).toMatchObject([{ cookies: 'none', cookieNames: [], minTime: null }]);
  const asked = newRule({ ...was, cookies: 'listed', honourOrigin: true });
  expect(planOf([], [asked], fieldsOf).create).toMatchObject([{ cookieNames: ['lang'], minTime: 5 }]);
});

test('a rule that asks more than its time is not plain', () => {
  expect(isPlain(newRule())).toBe(true);
  for (const more of [{ slices: true }, { browserTime: 0 }, { passCookies: ['*'] }])
    expect(isPlain(newRule(more))).toBe(false);
});

test('values are read from what is typed', () => {
  expect(valuesOf('fileType', '.JPG, png  css')).toEqual(['jpg', 'png', 'css']);
  expect(valuesOf('prefix', '/a/\n /b c/ \n')).toEqual(['/a/', '/b c/']);
  expect(valuesOf('regex', ' ^/a, b$ ')).toEqual(['^/a, b$']);
});

test('a lifetime is said in its largest whole unit', () => {
  expect(inLargestUnit(30 * 86_400)).toEqual({ count: 30, unit: 'days' });
  expect(inLargestUnit(90)).toEqual({ count: 90, unit: 'seconds' });
  expect(inLargestUnit(5400)).toEqual({ count: 90, unit: 'minutes' });
  expect(secondsOf(2, 'hours')).toBe(7200);
});
