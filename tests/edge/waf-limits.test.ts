// Attacks behind a limit of the firewall's engine: many values, long values, many suspicious ones.
import { afterAll, expect, test } from 'vitest';
import { SeededRandom } from '../support/builders/seeded-random.ts';
import { startWafEngine, type WafRequest } from '../support/services/waf-engine.ts';

const SQLI = '1 union select 2,3';
/** Harmless to the model; a rule marked alone finds it. */
const JNDI = '${jndi:ldap://a.example/x}';
const JSON_TYPE = ['Content-Type', 'application/json'] as const;
const FORM_TYPE = ['Content-Type', 'application/x-www-form-urlencoded'] as const;

const items = (count: number) => Array.from({ length: count }, (_, i) => `item ${i}`);
const list = (...texts: string[]) => JSON.stringify(texts);
const pairs = (...texts: string[]) => texts.map((text, i) => `a${i}=${encodeURIComponent(text)}`).join('&');
const of = (body: string, ...headers: WafRequest['headers'][number][]) => ({ target: '/', headers, body });
const json = (value: unknown) => of(JSON.stringify(value), JSON_TYPE);
/** Lists as strings of JSON: each text in them is a value. */
const nested = (lists: number, each: number, ...last: string[]) =>
  json([...Array.from({ length: lists }, () => list(...items(each))), ...last]);
const parts = (...texts: string[]) =>
  of(`${texts.map((text) => `--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n${text}\r\n`).join('')}--x--`, [
    'Content-Type',
    'multipart/form-data; boundary=x',
  ]);
/** Readers of UTF-16 and UTF-32 take both byte orders. */
const WIDE_XML = ['Content-Type', 'text/xml; charset=utf-16; charset=utf-32'] as const;
const MIB = 1_048_576;
/** Bytes without order, always the same ones. */
const noise = (length: number) => {
  const random = new SeededRandom(1);
  return Buffer.from(Array.from({ length }, () => Math.floor(random.next() * 256))).toString('latin1');
};
const field = (name: string) => `Content-Disposition: form-data; name="${name}"`;
const upload = (file: string, content: string) => `--xYzZy\r\n${field('f')}; filename="${file}"\r\n\r\n${content}\r\n`;
const UPLOAD_TYPE = ['Content-Type', 'multipart/form-data; boundary=xYzZy'] as const;
const uploads = (...files: string[]) => of(`${files.join('')}--xYzZy--`, UPLOAD_TYPE);
/** Their scores exceed the first threshold only, and no rule finds them. */
const DECOY = "a' or b";
/** Rules marked alone run on it, and no other. */
const SUSPECT = "Anna's book";

const attacks: [what: string, request: WafRequest, rule: RegExp][] = [
  [
    'a list of 1,900 strings in each of three headers',
    {
      target: '/',
      headers: [
        ['x-a', list(...items(1900))],
        ['x-b', list(...items(1900))],
        ['x-c', list(...items(1900))],
      ],
      body: `q=${encodeURIComponent(SQLI)}`,
    },
    /^sqli-/,
  ],
  ['4,500 strings in lists of a list', nested(9, 500, SQLI), /^sqli-/],
  ['2,100 strings', json([...items(2100), SQLI]), /^sqli-/],
  ['600 parameters', { target: `/?${pairs(...items(600), SQLI)}`, headers: [], body: '' }, /^sqli-/],
  ['600 form fields', of(pairs(...items(600), SQLI), FORM_TYPE), /^sqli-/],
  ['300 parts', parts(...items(300), SQLI), /^sqli-/],
  [
    '2,100 XML nodes',
    of(
      `<l>${items(2100)
        .map((text) => `<i>${text}</i>`)
        .join('')}<i>${SQLI}</i></l>`,
    ),
    /^sqli-/,
  ],
  ['64 KiB of commas', of(`a=${','.repeat(65_536)}${SQLI}`, FORM_TYPE), /^sqli-/],
  ['64 Ki different tokens', of(`a=${',.'.repeat(40_000)} ${SQLI}`, FORM_TYPE), /^sqli-/],
  ['64 KiB of commas in a text without a type', of(`${',.'.repeat(70_000)} ${SQLI}`), /^sqli-/],
  [
    '250 suspicious values, for a rule marked alone',
    of(pairs(...Array(250).fill(DECOY), JNDI), FORM_TYPE),
    /^template-jndi$/,
  ],
  [
    '250 suspicious values',
    { target: `/?${pairs(...Array(250).fill(DECOY), SQLI)}`, headers: [], body: '' },
    /^sqli-union-select$/,
  ],
  ...['Accept', 'Origin', 'X-Requested-With', 'If-None-Match', 'Accept-Language', 'Cache-Control'].map(
    (name): [string, WafRequest, RegExp] => [
      `the header ${name}`,
      { target: '/', headers: [[name, JNDI]], body: '' },
      /^template-jndi$/,
    ],
  ),
];

const ordinary: [what: string, request: WafRequest][] = [
  ['JSON with 5,000 strings', json(items(5000))],
  ['JSON with 3,000 records', json(items(3000).map((name, i) => ({ name, id: i, ok: true })))],
  [
    'a log shipper with events as JSON texts',
    json(
      items(500).map((message) =>
        JSON.stringify({ message, level: 'info', host: 'web-1', at: '2026-11-29T18:00:00Z' }),
      ),
    ),
  ],
  // A spreadsheet. In Latin-1, each character has three bytes.
  ['JSON with 50,001 Chinese texts', json(Array<string>(50_001).fill(Buffer.from('第一項').toString('latin1')))],
  ['JSON with 50,001 sentences that have an apostrophe', json(Array<string>(50_001).fill("don't call"))],
  ['JSON of 1 MiB', json(Array.from({ length: 32_000 }, (_, i) => ({ id: i, name: `item ${i}` })))],
  [
    'an upload of 1 MiB in five files',
    uploads(
      upload('page.html', `<html><script>a()</script>${'<p>text</p>'.repeat(20_000)}</html>`),
      ...['a.png', 'b.pdf', 'c.zip', 'd.bin'].map((file) => upload(file, noise(MIB / 5))),
    ),
  ],
  [
    'an upload of 100 pages',
    uploads(...items(100).map((name) => upload(`${name}.html`, `<script>a()</script>${'<p>text</p>'.repeat(900)}`))),
  ],
  [
    'XML of 1 MiB in UTF-16',
    {
      target: '/',
      headers: [['Content-Type', 'text/xml; charset=utf-16']],
      body: Buffer.from(`\uFEFF<l>${`<i>${'an item '.repeat(650)}</i>`.repeat(100)}</l>`, 'utf16le').toString('latin1'),
    },
  ],
  [
    'Chinese XML of 1 MiB in UTF-16',
    {
      target: '/',
      headers: [['Content-Type', 'text/xml; charset=utf-16']],
      body: Buffer.from(`\uFEFF<l>${`<i>${'第一項商品說明'.repeat(750)}</i>`.repeat(98)}</l>`, 'utf16le').toString(
        'latin1',
      ),
    },
  ],
  ['a text of 90,000 words', of(`a=${'word and another, '.repeat(22_500)}`, FORM_TYPE)],
  [
    'common headers',
    {
      target: '/',
      body: '',
      headers: [
        ['Accept', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'],
        ['Accept-Language', 'zh-TW,zh;q=0.8,en-US;q=0.5'],
        ['Origin', 'https://www.example.com'],
        ['X-Requested-With', 'XMLHttpRequest'],
        ['If-None-Match', 'W/"5f-1b2c{x}"'],
        ['Cache-Control', 'max-age=0'],
        ['Sec-Fetch-Mode', 'navigate'],
      ],
    },
  ],
];

/** More than any ordinary request has. */
const excesses: [what: string, request: WafRequest][] = [
  ['50,001 suspicious texts', json(Array<string>(50_001).fill(SUSPECT))],
  ['ten readings of 1 MiB of XML with two charsets', of(`<l>${'an item '.repeat(131_072)}</l>`, WIDE_XML)],
  ['50,000 names of files', uploads(...Array<string>(50_000).fill(upload('a', '')))],
  ['7,000 texts that only rules can judge', json(Array<string>(7000).fill(DECOY))],
];

const engine = await startWafEngine();
afterAll(() => engine.stop());
const verdicts = await engine.judge([...attacks, ...ordinary, ...excesses].map(([, request]) => request));
const numbered = (cases: readonly (readonly [string, ...unknown[]])[], from: number) =>
  cases.map((one, i) => [one[0], from + i] as const);

test.each(numbered(attacks, 0))('the attack behind %s is found', (_what, i) => {
  expect(verdicts[i]?.rule).toMatch(attacks[i]?.[2] ?? '');
});
test.each(numbered(ordinary, attacks.length))('%s is ordinary', (_what, i) => {
  expect(verdicts[i]).not.toHaveProperty('rule');
});
test.each(numbered(excesses, attacks.length + ordinary.length))('%s are refused', (_what, i) => {
  expect(verdicts[i]).toMatchObject({ rule: 'protocol-too-many-values', place: 'body' });
});

test('20,000 empty parts are refused, and not all of them are read', async () => {
  const [found] = await engine.judge([of(`${'--xYzZy\r\n\r\n\r\n'.repeat(20_000)}--xYzZy--`, UPLOAD_TYPE)]);
  expect(found).toMatchObject({ rule: 'protocol-too-many-values', place: 'body' });
  expect(found?.readings).toBeLessThanOrEqual(10_001);
});

test('a part of 1 MiB with all encodings and charsets is refused, and not decoded in all ways', async () => {
  // The body, three contents of the part, and each in four charsets.
  const encoded = ['base64', 'quoted-printable'].map((name) => `\r\nContent-Transfer-Encoding: ${name}`).join('');
  const part = `Content-Type: text/plain; charset=utf-16; charset=utf-32${encoded}\r\n\r\n${'a'.repeat(MIB)}`;
  const [found] = await engine.judge([of(`--xYzZy\r\n${field('a')}\r\n${part}\r\n--xYzZy--`, UPLOAD_TYPE)]);
  expect(found).toMatchObject({ rule: 'protocol-too-many-values', place: 'body' });
  expect(found?.readings).toBeLessThan(16);
});

test('50,001 sentences that have an apostrophe are ordinary at the highest level, too', async () => {
  const [found] = await engine.judge([json(Array<string>(50_001).fill("don't call"))], { level: 4 });
  expect(found).not.toHaveProperty('rule');
});

test('a header value that passed without a score is inspected under another name', async () => {
  const value = "1' union all select name,2 from users";
  const found = await engine.judge([
    { target: '/', headers: [['Accept', value]], body: '' },
    { target: '/', headers: [['X-Id', value]], body: '' },
  ]);
  expect(found.map(({ rule }) => rule)).toEqual([undefined, expect.stringMatching(/^sqli-/)]);
});

test('a rule marked alone is found in a header whose value passed where the rule is disabled', async () => {
  const requests = [{ target: '/', headers: [['Accept', `${JNDI}#`]] as const, body: '' }];
  const [passed] = await engine.judge(requests, { disabled: ['template-jndi'] });
  expect(passed).not.toHaveProperty('rule');
  expect(await engine.judge(requests)).toMatchObject([{ rule: 'template-jndi', place: 'header' }]);
});

test('a header value that another request hid from the inspection is inspected in the next one', async () => {
  const headers = [['x-id', "1' union all select name,2 from users"]] as const;
  const list = encodeURIComponent(JSON.stringify(Array<string>(50_001).fill(SUSPECT)));
  const [hidden, next] = await engine.judge([
    { target: `/?a=${list}`, headers, body: '' },
    { target: '/', headers, body: '' },
  ]);
  expect(hidden?.rule).toBe('protocol-too-many-values');
  expect(next).toMatchObject({ rule: expect.stringMatching(/^sqli-/), place: 'header' });
});

test.each([
  ['Cookie', (key: string) => `${key}=1`],
  ['Referer', (key: string) => `https://a.example/?${encodeURIComponent(key)}=1`],
  ['X-Id', (key: string) => JSON.stringify({ [key]: 1 })],
])('a name in the header %s is inspected after a request that had it in its query, too', async (header, valueOf) => {
  const key = `\${jndi:ldap://${header}.example/x}`;
  const headers = [[header, valueOf(key)]] as const;
  const [, next] = await engine.judge([
    { target: `/?${encodeURIComponent(key)}=1`, headers, body: '' },
    { target: '/', headers, body: '' },
  ]);
  expect(next).toMatchObject({ rule: 'template-jndi', place: 'name' });
});

// Regression: rules saw the worst window of a long value only, and the window's end could be far behind the attack.
test.each([
  ['before a run of one token', `${SQLI}${' aaaa'.repeat(1500)}`],
  ['before a run of one token and another', `${SQLI}${' aaaa'.repeat(1500)} x.`],
  ['far from text of a higher score', `${SQLI} ${'And so on. '.repeat(500)}<script>alert(document.cookie)</script>`],
])('rules find an attack in a long value, %s', async (_, text) => {
  const disabled = ['sqli-model', 'protocol-model', 'xss'];
  const requests = [of(`q=${encodeURIComponent(text)}`, FORM_TYPE)];
  expect(await engine.judge(requests, { disabled })).toMatchObject([{ rule: 'sqli-union-select', place: 'form' }]);
});
