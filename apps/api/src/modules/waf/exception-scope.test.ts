import type { WafExplanation } from '@edgeloom/contract/waf/explanation.ts';
import { expect, test } from 'vitest';
import { suggestedScope } from './exception-scope.ts';

const finding = { cause: 'waf', rule: 'sqli-union-select', uri: '/search', host: 'www.example.com' };
const explanation: WafExplanation = {
  score: 5.5,
  points: 9,
  rules: [
    { id: 'sqli-union-select', points: 5 },
    { id: 'sqli-select-from', points: 4 },
  ],
  place: 'query',
  name: 'id',
};

test('an exception is limited to the parameter, the path and the host, and holds for the category of a scored value', () => {
  expect(suggestedScope(finding, explanation)).toEqual({
    rule: 'sqli',
    path: '/search',
    parameter: 'id',
    host: 'www.example.com',
  });
});

test.each<[string, Partial<WafExplanation> | null, string | null]>([
  ['one rule without a score', { score: undefined, rules: [{ id: 'files-dump', points: 5 }] }, 'files-dump'],
  ['the score alone', { rules: [{ id: 'sqli-model', points: 5 }] }, 'sqli'],
  ['a rule of another release', { rules: [{ id: 'sqli-later', points: 5 }] }, 'sqli-later'],
  ['a node without explanations', null, 'sqli-union-select'],
  [
    'rules of several categories at a parameter',
    { rules: [...explanation.rules, { id: 'xss-active-elements', points: 5 }] },
    null,
  ],
  [
    'rules of several categories without a parameter',
    { name: undefined, rules: [...explanation.rules, { id: 'xss-active-elements', points: 5 }] },
    'sqli',
  ],
])('the rule of an exception for %s', (_what, over, rule) => {
  expect(suggestedScope(finding, over && { ...explanation, ...over })?.rule).toBe(rule);
});

test('a monitored finding suggests the rule without its prefix', () => {
  expect(suggestedScope({ ...finding, rule: 'monitor/files-dump' }, null)?.rule).toBe('files-dump');
});

test.each([
  ['is the decoded one, with escapes for the API', '/my docs/付?', '/my%20docs/付%3F'],
  ['ends before a second escape', '/a/b%2561/c', '/a/'],
  ['ends before a parameter of a segment', '/a;v=1/b', '/'],
  ['ends before bytes that are not UTF-8', '/a/\uFFFD', '/a/'],
  ['of a long request ends with a segment', `/${'a'.repeat(300)}/${'b'.repeat(300)}`, `/${'a'.repeat(300)}/`],
])('the path of an exception %s', (_what, uri, path) => {
  expect(suggestedScope({ ...finding, uri }, explanation)?.path).toBe(path === '/' ? null : path);
});

// Regression: an escape early in the path suggested an exception for the whole site.
// Regression: so did the path `/`, without an error.
test('a path that is the whole site suggests no exception unless a parameter limits it', () => {
  const unnamed = { ...finding, uri: '/\uFFFD/search' };
  expect(suggestedScope(unnamed, { ...explanation, name: undefined })).toBeNull();
  expect(suggestedScope(unnamed, explanation)).toMatchObject({ path: null, parameter: 'id' });
  expect(suggestedScope({ ...finding, uri: '/' }, { ...explanation, name: undefined })).toBeNull();
});

test.each([
  ['a name beyond ASCII', String.raw`\xE4\xBB\x98`, '付'],
  ['a name that the log may have cut', 'a'.repeat(64), null],
  ['a name with a line break', String.raw`a\x0Ab`, null],
  ['a name with a space at its end', 'id ', null],
])('the parameter of an exception for %s', (_what, name, parameter) => {
  expect(suggestedScope(finding, { ...explanation, name })?.parameter).toBe(parameter);
});
