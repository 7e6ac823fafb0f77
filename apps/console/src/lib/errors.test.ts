import { ApiError } from '@edgeloom/contract/client.ts';
import { errors } from '@edgeloom/contract/errors.ts';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { words as frame } from '../locales/en/frame.ts';
import { words as pages } from '../locales/en/pages.ts';
import { words } from '../locales/en/words.ts';
import { usePreferences } from '../stores/preferences.ts';
import { useToasts } from '../stores/toasts.ts';
import { explain, explainCode, multipleOf, noteUnmapped, ruleText, toastError, useMultiple } from './errors.ts';
import { time } from './format.ts';
import { learn } from './i18n.ts';

beforeAll(() => {
  usePreferences.setState({ language: 'en' });
  learn('en', { ...words, ...frame, ...pages });
});
afterEach(() => {
  useToasts.setState({ toasts: [] });
  useMultiple.setState({ entries: null });
  vi.restoreAllMocks();
});

const refused = (
  code: number,
  {
    status = 400,
    message = 'as the server says',
    errorData = [] as unknown[],
    extra = {},
    wait = null as number | null,
  } = {},
) => new ApiError(status, { isError: true, code, message, errorData, extra, reqID: 'r1' }, wait);
const toasts = () => useToasts.getState().toasts.map(({ text, code }) => ({ text, code }));

/** Phrases that differ from the catalogue's text. */
const otherwise: Record<number, string> = {
  401_003: 'The site does not open port 8443',
  401_008: 'At least one origin must be enabled',
  601_001: 'The simultaneous download quantity has reached the limit (3 records)',
  601_002: 'The daily download limit has been reached (10 records)',
};
const catalogue = [...new Map(Object.values(errors).map((entry) => [entry.code, entry.message])).entries()];

test.each(catalogue)('%i is said in the words of the catalogue: %s', (code, message) => {
  const error = refused(code, { extra: { port: '8443' } });
  expect(explain(error)).toEqual({ text: otherwise[code] ?? message, code, reqID: 'r1', status: 400 });
  expect(explainCode(code)).toMatch(/[a-z]/);
});

test('401003 shows the port, or the message of the server without one', () => {
  expect(explain(refused(401_003, { extra: { port: 8443 } })).text).toBe('The site does not open port 8443');
  expect(explain(refused(401_003)).text).toBe('as the server says');
});

test.each([205_001, 101_019, 101_023])('%i of the license of the installation says whose license it is', (code) => {
  const errorData = [{ path: '', rule: 'installationLicense', message: '' }];
  expect(explain(refused(code, { errorData })).text).toMatch(/^The license of this installation/);
});

test('a pattern that PCRE does not compile is said with the place and in the words of PCRE', () => {
  const message = 'the edge cannot compile it at character 5: missing ) {{at}}';
  const error = refused(101_003, { errorData: [{ path: 'value.0', rule: 'custom', message }] });
  expect(explain(error).text).toContain('The edge cannot compile this pattern (character 5: missing ) {{at}})');
});

test('what comes with an answer is text, never a phrase of ours', () => {
  expect(explain(refused(401_003, { extra: { port: '$t(common.ok) {{num}}' } })).text).toBe(
    'The site does not open port $t(common.ok) {{num}}',
  );
});

test('a code without a phrase shows the message of the server and logs a warning', () => {
  const note = vi.spyOn(console, 'warn').mockReturnValue();
  const error = refused(999_999);
  noteUnmapped(error);
  noteUnmapped(refused(101_002));
  toastError(error);
  expect(toasts()).toEqual([{ text: 'as the server says', code: 999_999 }]);
  expect(note.mock.calls).toEqual([['Unmapped error code 999999: as the server says (r1)']]);
});

test('several refusals open their dialog instead of a toast', () => {
  const errorData = [
    { code: 401_001, targets: ['a.example.com', 'b.example.com'] },
    { code: 401_003, values: { port: 8443 }, targets: ['d.example.com'] },
    { code: 401_003, targets: ['e.example.com'] },
    { code: 101_003, rule: 'format', message: 'enter a domain name', targets: ['f'] },
    { code: 101_003, rule: 'maxItems', message: 'at most 50', values: { maximum: 50 }, targets: ['g'] },
    { code: 999_999, targets: ['c'] },
  ];
  const error = refused(101_009, { errorData });
  toastError(error);
  expect(toasts()).toEqual([]);
  expect(useMultiple.getState().entries).toEqual([
    { code: 401_001, text: 'Unable To Enable Duplicate Domains', targets: ['a.example.com', 'b.example.com'] },
    { code: 401_003, text: 'The site does not open port 8443', targets: ['d.example.com'] },
    { code: 401_003, text: 'A port of the mapping is not open on the site', targets: ['e.example.com'] },
    { code: 101_003, text: 'Enter a domain name', targets: ['f'] },
    { code: 101_003, text: 'At most 50', targets: ['g'] },
    { code: 999_999, text: '999999', targets: ['c'] },
  ]);
  expect(multipleOf(refused(101_003, { errorData }))).toEqual([]);
});

describe('a call may have words of its own', () => {
  test('for a code', () => {
    toastError(refused(101_025), { says: { 101_025: 'errors.messages.data already exists' } });
    expect(toasts()).toEqual([{ text: 'Data already exists', code: 101_025 }]);
  });

  test('or none: 10102502 is silent where the call expects it', () => {
    toastError(refused(10_102_502), { says: { 10_102_502: null } });
    expect(toasts()).toEqual([]);
    toastError(refused(10_102_502));
    expect(toasts()).toHaveLength(1);
  });

  test('for what did not happen', () => {
    toastError(refused(101_005), { failed: 'app.signOut' });
    expect(toasts()[0]?.text).toBe('Sign out Database Execution Error');
  });
});

test('who asks too often learns how long to wait', () => {
  const errorData = [{ path: '', rule: 'rate', message: '' }];
  const text = (wait: number | null) => explain(refused(101_003, { status: 429, errorData, wait })).text;
  expect(text(90).replaceAll('\u00a0', ' ')).toBe('Too many attempts. Try again in 1 min 30 s.');
  expect(text(null)).toBe('Too many attempts. Try again later.');
});

test('a wrong input is named with its rule', () => {
  const errorData = [{ path: 'upstreams.0.port', rule: 'range', message: '' }];
  expect(explain(refused(101_003, { errorData })).text).toBe('Parameter Error: upstreams.0.port Out of range');
});

test('what a provider answers is said before the rule', () => {
  expect(ruleText('provider', 'Invalid API key')).toBe('Invalid API key');
  expect(ruleText('provider', '')).toBe('The DNS provider rejects this');
});

test("a time in a rule's phrase is shown as local time", () => {
  const from = '2026-12-25T00:00:00.000Z';
  expect(ruleText('notYetValid', '', { from })).toBe(
    `The certificate is not valid before ${time(from)}. Upload it after that time.`,
  );
});

test('a refusal that is about no field says its rule', () => {
  const text = (rule: string) => explain(refused(101_003, { status: 409, errorData: [{ rule }] })).text;
  expect(text('inUse')).toBe('Still in use');
  expect(text('busy')).toBe('Someone else is changing this, or it took too long. Try again.');
});

test('an unreachable server and an exception in the console have different texts', () => {
  expect(explain(new TypeError('Failed to fetch')).text).toBe('The server does not respond');
  expect(explain(new Error('x is not a function')).text).toBe('Something Wrong! Please try again later.');
});
