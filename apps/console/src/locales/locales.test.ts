import { errorRules, errors } from '@edgeloom/contract/errors.ts';
import { errorMessages } from '@edgeloom/contract/messages.ts';
import { CertStatus, CnameStatus } from '@edgeloom/contract/domains/domains.ts';
import { AccountStatus } from '@edgeloom/contract/auth/auth.ts';
import { JobState } from '@edgeloom/contract/jobs/jobs.ts';
import { NodeStatus } from '@edgeloom/contract/nodes/nodes.ts';
import { stepNames } from '@edgeloom/contract/simulate/simulate.ts';
import { SiteStatus } from '@edgeloom/contract/sites/sites.ts';
import { describe, expect, test } from 'vitest';
import { statusTone } from '../theme/tokens.ts';

const files = import.meta.glob<object>('./*/*.json', { eager: true, import: 'default' });
const languages = ['zh-TW', 'zh-CN', 'en'] as const;
type Phrases = Map<string, string>;

function phrasesOf(value: unknown, before: string): [string, string][] {
  if (typeof value === 'string') return [[before, value]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => phrasesOf(inner, `${before}.${key}`));
}
const phrases = new Map<string, Phrases>(
  languages.map((language) => [
    language,
    new Map(
      Object.entries(files)
        .filter(([path]) => path.startsWith(`./${language}/`))
        .flatMap(([path, file]) => phrasesOf(file, path.slice(language.length + 3, -5))),
    ),
  ]),
);
const of = (language: string): Phrases => phrases.get(language) ?? new Map();

/** English has singular forms; Chinese has none. */
const base = (key: string) => key.replace(/_(one|other)$/, '');
const keysOf = (language: string) => new Set([...of(language).keys()].map(base));
const placeholders = (text: string) => [...new Set(text.match(/\{\{\s*\w+\s*\}\}|<\/?\d+\/?>/g))].toSorted();

/** Characters of an older character set with one script: Big5 for Traditional, GB 2312 for Simplified Chinese. */
function charactersOf(encoding: 'big5' | 'gbk', [first, last]: [number, number]): Set<string> {
  const decoder = new TextDecoder(encoding);
  const found = new Set<string>();
  for (let lead = first; lead <= last; lead += 1)
    for (let trail = encoding === 'gbk' ? 0xa1 : 0x40; trail <= 0xfe; trail += 1)
      found.add(decoder.decode(Uint8Array.of(lead, trail)));
  return found;
}

describe.each(['zh-TW', 'zh-CN'] as const)('%s', (language) => {
  test('says everything that English says, and nothing else', () => {
    const [english, own] = [keysOf('en'), keysOf(language)];
    expect([...english].filter((key) => !own.has(key))).toEqual([]);
    expect([...own].filter((key) => !english.has(key))).toEqual([]);
  });

  test('fills in the same values', () => {
    const english = new Map([...of('en')].map(([key, text]) => [base(key), placeholders(text)]));
    const others = [...of(language)].filter(
      ([key, text]) => placeholders(text).join() !== english.get(base(key))?.join(),
    );
    // A singular form may omit the number.
    expect(others.filter(([key]) => !of('en').has(`${base(key)}_one`)).map(([key]) => key)).toEqual([]);
  });

  test('is written in its own characters', () => {
    const own = language === 'zh-TW' ? charactersOf('big5', [0xa4, 0xf9]) : charactersOf('gbk', [0xb0, 0xf7]);
    const foreign = [...of(language)].flatMap(([key, text]) =>
      [...text.matchAll(/\p{Script=Han}/gu)].some(([one]) => !own.has(one)) ? [`${key}: ${text}`] : [],
    );
    // Language names are in their own language.
    expect(foreign.filter((one) => !/^\w+\.choices\.language\./.test(one))).toEqual([]);
  });
});

test.each(languages)('%s leaves no phrase empty', (language) =>
  expect([...of(language)].filter(([, text]) => text.trim() === '' && text !== ' ').map(([key]) => key)).toEqual([]),
);

// These commands exist only in a checkout of the sources, which an operator may not have.
test.each(languages)('%s names no command that only developers have', (language) => {
  const commands = /\b(?:pnpm|npx|npm run|risk-pack)\b/i;
  expect([...of(language)].filter(([, text]) => commands.test(text)).map(([key]) => key)).toEqual([]);
});

test('English says for how long a code is valid, and never what it is good for', () => {
  expect([...of('en')].filter(([, text]) => /\bgood for\b/i.test(text)).map(([key]) => key)).toEqual([]);
  expect(of('en').get('auth.sentTo')).toContain('valid for 10 minutes');
});

test.each(stepNames)('the step %s of a simulation has a name', (step) => {
  const english = of('en');
  expect(english.get(`simulate.names.${step}`) ?? english.get(`${step}.name`)).toBeDefined();
});

const signInPages = import.meta.glob<string>('../features/auth/*.{ts,tsx}', {
  eager: true,
  import: 'default',
  query: '?raw',
});
const wordsOfSignIn = import.meta.glob<object>('./en/{app,auth,common,errors}.json');

test('the sign-in pages use only phrases that are loaded before the sign-in', () => {
  const loaded = Object.keys(wordsOfSignIn).map((path) => path.slice('./en/'.length, -'.json'.length));
  const used = Object.values(signInPages).flatMap((text) =>
    [...text.matchAll(/\bt(?:Maybe)?\(\s*['`](\w+)\./g)].map(([, feature = '']) => feature),
  );
  expect(used).toContain('auth');
  expect([...new Set(used)].filter((feature) => !loaded.includes(feature))).toEqual([]);
});

test.each(languages)('%s has a phrase for each error code', (language) => {
  const codes = [...new Set(Object.values(errors).map(({ code }) => code))];
  expect(codes.filter((code) => !of(language).has(`errors.${code}`))).toEqual([]);
});

/** `errorRules` is the type of all rules in the API, so unlisted rules do not compile. */
test.each(languages)('%s has a phrase for each rule that an error may name', (language) =>
  expect(
    errorRules.filter((rule) => !of(language).has(`errors.rules.${rule}`) && !of(language).has(`errorRules.${rule}`)),
  ).toEqual([]),
);

/** Each message of a schema is in the list of messages, which have phrases. */
const schemas = import.meta.glob<string>('../../../../packages/contract/src/**/*.ts', {
  eager: true,
  import: 'default',
  query: '?raw',
});
const isOfForms = (path: string) => !/\.test\.ts$|\/src\/(?:edge\/|errors\.ts$|client\.ts$)/.test(path);
const literals = Object.entries(schemas).flatMap(([path, text]) =>
  !isOfForms(path)
    ? []
    : [...text.matchAll(/message: '(?<message>[^']+)'|\.(?:refine|regex)\(.*, '(?<second>[^']+)'\)/g)].map(
        ({ groups }) => groups?.['message'] ?? groups?.['second'] ?? '',
      ),
);
test('a schema says only what has a phrase', () => {
  expect(literals.length).toBeGreaterThan(60);
  // Our phrase contains PCRE's message.
  const known: readonly string[] = [...errorMessages, 'too complex'];
  expect([...new Set(literals.filter((message) => !known.includes(message)))]).toEqual([]);
});

test.each(languages)('%s has a phrase for each message of a schema', (language) =>
  expect(
    errorMessages.filter(
      (message) => !of(language).has(`errors.messages.${message}`) && !of(language).has(`errorMessages.${message}`),
    ),
  ).toEqual([]),
);

test.each(languages)('%s names each state', (language) => {
  const states = Object.entries(statusTone).flatMap(([kind, values]) =>
    Object.keys(values).map((value) => `status.${kind}.${value}`),
  );
  expect(states.filter((state) => !of(language).has(state))).toEqual([]);
});

test.each([
  ['account', AccountStatus.options],
  ['site', SiteStatus.options],
  ['cname', CnameStatus.options],
  ['cert', CertStatus.options],
  ['node', NodeStatus.options],
  ['task', JobState.options],
] as const)('each state of a %s has its tone', (kind, states) =>
  expect(states.filter((state) => !(state in statusTone[kind]))).toEqual([]),
);
