import { groups } from '@edgeloom/contract/all.ts';
import { kindOf, kindOfParam, operationName, operationsOf } from '@edgeloom/contract/audit/operations.ts';
import { paramNames, type Endpoint } from '@edgeloom/contract/endpoint.ts';
import { beforeAll, expect, test } from 'vitest';
import { words as english } from '../../locales/en/words.ts';
import { words as englishFrame } from '../../locales/en/frame.ts';
import { words as englishPages } from '../../locales/en/pages.ts';
import { words as simplified } from '../../locales/zh-CN/words.ts';
import { words as simplifiedFrame } from '../../locales/zh-CN/frame.ts';
import { words as simplifiedPages } from '../../locales/zh-CN/pages.ts';
import { words as traditional } from '../../locales/zh-TW/words.ts';
import { words as traditionalFrame } from '../../locales/zh-TW/frame.ts';
import { words as traditionalPages } from '../../locales/zh-TW/pages.ts';
import { learn, switchPhrases } from '../../lib/i18n.ts';
import { i18nextPhrases } from '../../lib/i18next-phrases.ts';
import { actorOf, resultOf } from './in-words.ts';
import { sentenceOf, sentenceText, type LoggedAction } from './sentence.ts';

const languages = {
  en: { ...english, ...englishFrame, ...englishPages },
  'zh-TW': { ...traditional, ...traditionalFrame, ...traditionalPages },
  'zh-CN': { ...simplified, ...simplifiedFrame, ...simplifiedPages },
};
const languageNames = ['zh-TW', 'zh-CN', 'en'] as const;
beforeAll(() => {
  switchPhrases(i18nextPhrases());
  for (const name of languageNames) learn(name, languages[name]);
});

const item = (name: string, exists = true) => ({ id: name, name, exists });
const site = { kind: 'sites', count: 1, items: [item('Glow Select')] };
const inSite = { kind: 'sites', ...item('Glow Select') };
const row = (parts: Partial<LoggedAction>): LoggedAction => ({
  id: 'r1',
  reqID: 'r1',
  time: '2026-11-24T08:00:00.000Z',
  accountID: null,
  accountName: 'Lin',
  email: 'lin@example.com',
  proxyName: '',
  method: 'POST',
  url: '/api/v1/user/x',
  status: 200,
  code: null,
  address: '192.0.2.1',
  device: '',
  callCount: 1,
  failedCount: 0,
  changeCount: 1,
  operation: '',
  kind: '',
  targets: [],
  within: null,
  values: {},
  ...parts,
});

const pages = (count: number) => ({ kind: 'errorPages', count, items: [] });
const addedPages = { operation: 'errorPages.create', kind: 'errorPages', within: inSite };
const domains = (...names: string[]) => ({
  kind: 'domains',
  count: names.length,
  items: names.slice(0, 3).map((name) => item(name)),
});
const copied = { operation: 'copies.settings', kind: 'modules', within: inSite };
const copies = (...names: string[]) => ({ ...domains(...names), kind: 'sites' });
const switched = { operation: 'domains.status', kind: 'domains', within: inSite };
const zone = { kind: 'zones', count: 1, items: [item('Tokyo', false)] };
const ofZone = { operation: 'zones.remove', kind: 'zones', targets: [zone] };

test.each([
  ['en', row({ ...addedPages, targets: [site, pages(3)] }), 'Added 3 error pages to Glow Select'],
  ['zh-TW', row({ ...addedPages, targets: [site, pages(3)] }), '新增了 3 個錯誤頁面至 Glow Select'],
  ['zh-CN', row({ ...addedPages, targets: [site, pages(3)] }), '新增了 3 个错误页面到 Glow Select'],
  ['en', row({ ...addedPages, targets: [site, pages(1)] }), 'Added 1 error page to Glow Select'],
  [
    'en',
    row({ ...addedPages, targets: [site, pages(0)], within: { ...inSite, name: '' } }),
    'Added error pages to a site that no longer exists',
  ],
  [
    'zh-TW',
    row({ ...addedPages, targets: [site, pages(0)], within: { ...inSite, name: '' } }),
    '新增了錯誤頁面至已不存在的站點',
  ],
  ['en', row({ ...addedPages, targets: [site, pages(2)], status: 409 }), 'Tried to add 2 error pages to Glow Select'],
  ['zh-TW', row({ ...addedPages, targets: [site, pages(2)], status: 409 }), '嘗試新增 2 個錯誤頁面至 Glow Select'],
  [
    'en',
    row({ ...switched, targets: [site, domains('a.example.com', 'b.example.com')], values: { enabled: true } }),
    'Turned on 2 domains of Glow Select: a.example.com, b.example.com',
  ],
  [
    'zh-TW',
    row({ ...switched, targets: [site, domains('a.example.com', 'b.example.com')], values: { enabled: true } }),
    '啟用了 Glow Select 的 2 個網域：a.example.com、b.example.com',
  ],
  [
    'en',
    row({ ...switched, targets: [site, domains('a', 'b', 'c', 'd', 'e')], values: { enabled: false } }),
    'Turned off 5 domains of Glow Select: a, b, c, and 2 more',
  ],
  [
    'zh-CN',
    row({ ...switched, targets: [site, domains('a', 'b', 'c', 'd', 'e')], values: { enabled: false } }),
    '停用了 Glow Select 的 5 个域名：a、b、c，另有 2 个',
  ],
  ['en', row(ofZone), 'Removed zone Tokyo'],
  ['zh-TW', row(ofZone), '移除了區域 Tokyo'],
  [
    'en',
    row({
      operation: 'zones.create',
      kind: 'zones',
      targets: [{ kind: 'zones', count: 1, items: [{ ...item('Osaka', false), id: '' }] }],
      values: { name: 'Osaka' },
      status: 409,
    }),
    'Tried to add zone Osaka',
  ],
  ['en', row({ operation: 'auth.code', kind: 'auth' }), 'Signed in'],
  ['zh-TW', row({ operation: 'auth.login', kind: 'auth', status: 401 }), '嘗試登入'],
  [
    'en',
    row({
      operation: 'cacheRules.update',
      kind: 'cacheRules',
      targets: [site, { kind: 'cacheRules', count: 2, items: [] }],
      within: inSite,
    }),
    'Changed 2 cache rules of Glow Select',
  ],
  [
    'zh-CN',
    row({
      operation: 'cacheRules.update',
      kind: 'cacheRules',
      targets: [site, { kind: 'cacheRules', count: 2, items: [] }],
      within: inSite,
    }),
    '修改了 Glow Select 的 2 条缓存规则',
  ],
  ['en', row({ ...copied, targets: [copies('Beta')] }), 'Copied settings of Glow Select to Beta'],
  [
    'en',
    row({ ...copied, targets: [copies('Beta', 'Gamma', 'Delta', 'Epsilon', 'Zeta')] }),
    'Copied settings of Glow Select to Beta, Gamma, Delta, and 2 more',
  ],
  ['zh-TW', row({ ...copied, targets: [copies('Beta', 'Gamma')] }), '將 Glow Select 的設定複製到了 Beta、Gamma'],
  ['en', row({ ...copied, status: 404 }), 'Tried to copy settings of Glow Select to other sites'],
  ['en', row({ method: 'POST', url: '/api/v1/gone' }), 'Called POST /api/v1/gone'],
] as const)('%s: %#', async (language, call, text) => {
  learn(language, {});
  expect(sentenceText(call)).toBe(text);
});

test('a name is never read as a phrase, and stays one piece', async () => {
  learn('en', {});
  const name = '<b>{{in}} [a|b] $t(common.save)</b>';
  const call = row({ ...ofZone, targets: [{ ...zone, items: [item(name)] }] });
  expect(sentenceText(call)).toBe(`Removed zone ${name}`);
  expect(
    sentenceOf(call)
      .filter(({ named }) => named)
      .map(({ text }) => text),
  ).toEqual([name]);
});

test('an actor who acts as another account is named with it', async () => {
  learn('en', {});
  expect(actorOf(row({}))).toBe('Lin');
  expect(actorOf(row({ accountName: '' }))).toBe('lin@example.com');
  expect(actorOf(row({ proxyName: 'Wang' }))).toBe('Wang as Lin');
  learn('zh-TW', {});
  expect(actorOf(row({ proxyName: 'Wang' }))).toBe('Wang（以 Lin 的身分）');
});

test('a result is empty, or the reason of the failure', async () => {
  learn('en', {});
  expect(resultOf(row({}))).toBe('');
  expect(resultOf(row({ status: 0 }))).toBe('No response: the server stopped');
  expect(resultOf(row({ status: 409, code: 201_002 }))).toBe('Failed: Zone Name Already Exists');
  expect(resultOf(row({ status: 409, code: 401_003, values: { port: 8443 } }))).toBe(
    'Failed: The site does not open port 8443',
  );
  const partly = row({ callCount: 4, failedCount: 1 });
  expect(resultOf(partly)).toBe('1 of 4 calls failed');
  expect(resultOf(partly, true)).toBe('Partly failed');
  // Rows of older releases have no code, and not every value is recorded.
  expect(resultOf(row({ status: 409, code: null }))).toBe('Failed: Status 409');
  expect(resultOf(row({ status: 409, code: 401_003 }))).toBe('Failed: Status 409');
});

/** Sample calls of an endpoint: successful and failed, with one and several objects, and with each known value. */
function samplesOf(endpoint: Endpoint): LoggedAction[] {
  const kind = kindOf(endpoint);
  const params = paramNames(endpoint.path);
  const places = params.flatMap((name) => {
    const found = kindOfParam(endpoint, name);
    return found === null ? [] : [{ kind: found, count: 1, items: [item('Name')] }];
  });
  const place = places.findLast((one) => one.kind !== kind);
  const within = place?.items[0] ? { kind: place.kind, ...place.items[0] } : null;
  const others = ['sites', 'domains', 'zones', 'accounts']
    .filter((one) => one !== kind && !places.some((named) => named.kind === one))
    .map((one) => ({ kind: one, count: 1, items: [item('Name')] }));
  const words = {
    version: '7',
    line: 'default',
    part: 'http',
    product: 'agent',
    role: 'main',
    kind: 'cors',
    cname: 'x.example.net',
  };
  const call = (count: number, status: number, state: LoggedAction['values']) =>
    row({
      operation: operationName(endpoint),
      kind,
      status,
      within,
      values: { ...words, ...state },
      targets: [...places, ...(places.some((one) => one.kind === kind) ? [] : [{ kind, count, items: [] }]), ...others],
    });
  const switches = [{ preview: true }, { enabled: true }, { enabled: false }, { off: true }, { off: false }];
  return [
    ...[0, 1, 2].flatMap((count) => [200, 409].map((status) => call(count, status, {}))),
    ...switches.map((state) => call(1, 200, { ...state, name: 'compression' })),
    ...['normal', 'pause', 'lock'].map((status) => call(2, 200, { status })),
    ...['pause', 'continue', 'rollback', 'fastLane'].map((action) => call(1, 200, { action })),
  ];
}

const { audited } = operationsOf(groups);

/** A leftover placeholder, choice or key, or a kind or feature as the code calls it. */
const leftover = /\{\{|\}\}|undefined|\[|\||audit\.|\/api\/v1| {2}|^ | $|\b[a-z]+[A-Z]\w*/;

test.each(languageNames)('%s has a sentence for every audited call', async (language) => {
  learn(language, {});
  const sentences = audited.flatMap((endpoint) =>
    samplesOf(endpoint).map((call) => `${operationName(endpoint)}: ${sentenceText(call)}`),
  );
  expect(audited.length).toBeGreaterThan(200);
  const isWhole = (sentence: string) =>
    !leftover.test(sentence.slice(sentence.indexOf(': ') + 2)) &&
    (language === 'en' || /\p{Script=Han}/u.test(sentence));
  expect([...new Set(sentences)].filter((sentence) => !isWhole(sentence))).toEqual([]);
});
