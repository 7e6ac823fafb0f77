// Compressed bodies, and bodies longer than the firewall inspects, through a real nginx.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type OutgoingHttpHeaders } from 'node:http2';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { siteWithWaf, type WafOptions } from '../support/builders/waf.ts';
import { collectedStops } from '../support/services/collected-stops.ts';
import { startEdge, type LuaChange } from '../support/services/edge.ts';

const { onEnd, stopAll } = collectedStops();
afterAll(stopAll);
const started = async (lua: LuaChange[] = []) => {
  const edge = await startEdge({ lua, zone: { worker: { processes: 1, connections: 1024 } } });
  onEnd(() => edge.stop());
  return edge;
};
const edge = await started();

const withWaf = async (over: WafOptions = {}, on = edge) => (await siteWithWaf(on, over)).name;
const post = (host: string, body: string | Buffer, headers: OutgoingHttpHeaders = {}, path = '/up', on = edge) =>
  on.get(path, { host, method: 'POST', body, headers: { 'Content-Type': FORM, ...headers } });
const packed = (body: string | Buffer, encoding = 'gzip') => [body, { 'Content-Encoding': encoding }] as const;

const FORM = 'application/x-www-form-urlencoded';
/** Log lines as JSON texts in a list. */
const EVENTS = JSON.stringify(
  Array.from({ length: 1500 }, (_, i) => JSON.stringify({ message: `item ${i}`, level: 'info' })),
);
const FORM_ATTACK = 'id=1+union+select+2,3';
/** A gzip text whose header has a field of the text. */
const gzipWith = (flags: number, field: string) => {
  const plain = gzipSync('a=1');
  return Buffer.concat([
    plain.subarray(0, 3),
    Buffer.from([flags]),
    plain.subarray(4, 10),
    Buffer.from(field),
    plain.subarray(10),
  ]);
};

test.each([
  ['gzip', packed(gzipSync(FORM_ATTACK))],
  ['gzip in capitals', packed(gzipSync(FORM_ATTACK), 'GZIP')],
  ['deflate', packed(deflateSync(FORM_ATTACK), 'deflate')],
  ['deflate without a header', packed(deflateRawSync(FORM_ATTACK), 'deflate')],
  ['the second member of a gzip text', packed(Buffer.concat([gzipSync('a=1&'), gzipSync(FORM_ATTACK)]))],
  [
    'gzip without Content-Length',
    [gzipSync(FORM_ATTACK), { 'Content-Encoding': 'gzip', 'Transfer-Encoding': 'chunked' }] as const,
  ],
  ['the file name of a gzip text', packed(gzipWith(8, `&${FORM_ATTACK}&\0`))],
  ['the comment of a gzip text', packed(gzipWith(16, `&${FORM_ATTACK}&\0`))],
  ['chunks of a signed upload', packed(FORM_ATTACK, 'aws-chunked')],
])('an attack in %s is refused', async (_what, [body, headers]) => {
  const refused = await post(await withWaf(), body, headers);
  expect(refused.status).toBe(403);
  expect((await edge.accessLogEntry(refused))['rule']).toMatch(/^sqli-/);
});

test.each([
  ['Brotli', packed(brotliCompressSync('a=1'), 'br')],
  ['an unknown encoding', packed('a=1', 'zstd')],
  ['two encodings', packed(gzipSync(gzipSync('a=1')), 'gzip, gzip')],
  ['text declared as gzip', packed('a=1')],
  ['a gzip text that ends early', packed(gzipSync('a=1').subarray(0, -4))],
  ['a gzip text with other bytes behind it', packed(Buffer.concat([gzipSync('a=1'), Buffer.from('&b=2')]))],
  ['deflate with other bytes behind it', packed(Buffer.concat([deflateSync('a=1'), Buffer.from('&b=2')]), 'deflate')],
  ['a gzip text with a comment', packed(gzipWith(16, 'a\0'))],
  ['a gzip text with a form as its file name', packed(gzipWith(8, '&b=2&\0'))],
])('a body of %s is refused, and passes in monitor mode', async (_what, [body, headers]) => {
  const refused = await post(await withWaf(), body, headers);
  expect(refused.status).toBe(403);
  expect(await edge.accessLogEntry(refused)).toMatchObject({ cause: 'waf', rule: 'protocol-compressed-body' });
  const passed = await post(await withWaf({ mode: 'monitor' }), body, headers);
  expect(passed.status).toBe(200);
  expect((await edge.accessLogEntry(passed))['rule']).toMatch(/^monitor\/(?:protocol-compressed-body|sqli-)/);
});

// SDKs of S3 send signed frames.
const frame = (data: Buffer, extension = `;chunk-signature=${'0a'.repeat(32)}`) =>
  Buffer.concat([Buffer.from(`${data.length.toString(16)}${extension}\r\n`), data, Buffer.from('\r\n')]);
const framed = (data: Buffer, extension?: string) =>
  Buffer.concat([
    frame(data.subarray(0, 10), extension),
    frame(data.subarray(10), extension),
    Buffer.from(`0${extension ?? ''}\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n`),
  ]);
const NAMES = ['gzip,aws-chunked', 'aws-chunked, gzip'];
test.each([
  ...NAMES.map((name) => [name, framed(gzipSync('a=1')), framed(gzipSync(FORM_ATTACK))] as const),
  ['aws-chunked,deflate', framed(deflateSync('a=1'), ''), framed(deflateSync(FORM_ATTACK), '')] as const,
  // Some clients only name the frames.
  ['gzip, aws-chunked', gzipSync('a=1'), gzipSync(FORM_ATTACK)] as const,
])('a body with the encodings %s is unpacked from its frames', async (encoding, honest, attack) => {
  const name = await withWaf();
  expect((await post(name, ...packed(honest, encoding))).status).toBe(200);
  const refused = await post(name, ...packed(attack, encoding));
  expect(refused.status).toBe(403);
  expect((await edge.accessLogEntry(refused))['rule']).toMatch(/^sqli-/);
});

test('a compressed body with broken frames is refused', async () => {
  const name = await withWaf();
  const whole = framed(gzipSync('a=1'));
  const bodies = [
    whole.subarray(0, 60),
    Buffer.concat([whole, Buffer.from("' or 1=1")]),
    framed(gzipSync('a=1'), ';id=1'),
    frame(gzipSync('a=1')),
  ];
  for (const body of bodies) {
    const refused = await post(name, ...packed(body, 'gzip,aws-chunked'));
    expect(await edge.accessLogEntry(refused)).toMatchObject({ status: 403, rule: 'protocol-compressed-body' });
  }
});

// Faulty clients write such names, and origins read the body as it is.
const plainEncodings = 'utf-8,UTF8,none,binary,amz-1.0,aws-chunked,identity,base64,gb2312,Windows-1252,undefined';
test.each([...plainEncodings.split(','), 'utf-8, identity'])(
  'a body with the encoding %s is inspected as it is',
  async (encoding) => {
    const name = await withWaf();
    const passed = await post(name, ...packed('a=1', encoding));
    expect(passed.status).toBe(200);
    expect(await edge.accessLogEntry(passed)).toMatchObject({ cause: '', rule: '' });
    const refused = await post(name, ...packed(FORM_ATTACK, encoding));
    expect(refused.status).toBe(403);
    expect((await edge.accessLogEntry(refused))['rule']).toMatch(/^sqli-/);
  },
);

test.each([
  ['of a log shipper', gzipSync(EVENTS), 'gzip'],
  ['with a file name', gzipWith(8, 'access log (1).json\0'), 'gzip'],
  ['of several members', Buffer.concat([gzipSync('a=1&'), gzipSync('b=2')]), 'gzip'],
  ['in deflate', deflateSync('a=1'), 'deflate'],
])('a compressed body %s passes unchanged', async (what, body, encoding) => {
  const path = `/${encodeURIComponent(what)}`;
  const type = what === 'of a log shipper' ? { 'Content-Type': 'application/json' } : {};
  const passed = await post(await withWaf(), body, { 'Content-Encoding': encoding, ...type }, path);
  expect(passed.status).toBe(200);
  expect(edge.origin.asked(path)).toMatchObject([
    { body: body.toString(), headers: { 'content-encoding': encoding, 'content-length': `${body.length}` } },
  ]);
  expect(await edge.accessLogEntry(passed)).toMatchObject({ cause: '', rule: '' });
});

test('100 MB in 100 kB of gzip are unpacked up to the limit, with bounded memory', async () => {
  const name = await withWaf();
  const strict = await withWaf({ largeBodies: 'deny' });
  const bomb = gzipSync(Buffer.alloc(100_000_000, 'x'));
  await post(name, gzipSync('a=1'), { 'Content-Encoding': 'gzip' });
  const before = await peakOfWorker();
  const passed = await post(name, ...packed(bomb));
  expect(passed.status).toBe(200);
  expect(await edge.accessLogEntry(passed)).toMatchObject({ cause: 'waf', rule: 'monitor/protocol-large-body' });
  const refused = await post(strict, ...packed(bomb));
  expect(refused.status).toBe(413);
  expect(await edge.accessLogEntry(refused)).toMatchObject({ rule: 'protocol-large-body' });
  expect((await peakOfWorker()) - before).toBeLessThan(30_000);
});

/** The largest memory of the worker so far, in kB. */
async function peakOfWorker(): Promise<number> {
  const pid = await edge.pid();
  const [worker = ''] = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).split(' ');
  return Number(/VmHWM:\s+(\d+)/.exec(await readFile(`/proc/${worker}/status`, 'utf8'))?.[1]);
}

const LONG = `a=${'x'.repeat(2000)}`;
const PADDED = `${LONG}&${FORM_ATTACK}`;
test.each([
  ['a body', PADDED, {}],
  ['a compressed body', gzipSync(PADDED), { 'Content-Encoding': 'gzip' }],
  ['a body without Content-Length', PADDED, { 'Transfer-Encoding': 'chunked' }],
  [
    'a compressed body padded by empty members',
    Buffer.concat([...Array<Buffer>(200).fill(gzipSync('')), gzipSync(FORM_ATTACK)]),
    { 'Content-Encoding': 'gzip' },
  ],
])(
  '%s longer than the limit passes where its start is inspected, and its log row says so',
  async (_what, body, headers) => {
    const passed = await post(await withWaf({ bodyKiB: 1 }), body, headers);
    expect(passed.status).toBe(200);
    expect(await edge.accessLogEntry(passed)).toMatchObject({ cause: 'waf', rule: 'monitor/protocol-large-body' });
    const refused = await post(await withWaf({ bodyKiB: 1, largeBodies: 'deny' }), body, headers);
    expect(refused.status).toBe(413);
  },
);

test('an attack at the start of a long body is refused', async () => {
  expect((await post(await withWaf({ bodyKiB: 1 }), `${FORM_ATTACK}&a=${'x'.repeat(2000)}`)).status).toBe(403);
});

test.each([
  ['a disabled rule', { disabledRules: ['protocol-compressed-body'] }, 200],
  ['a disabled category', { disabledCategories: ['protocol'] }, 200],
  [
    'an exception of the path',
    { exceptions: [{ rule: 'protocol-compressed-body', path: '/up', parameter: null }] },
    200,
  ],
  [
    'an exception of another path',
    { exceptions: [{ rule: 'protocol-compressed-body', path: '/other', parameter: null }] },
    403,
  ],
  ['an exception of a parameter', { exceptions: [{ rule: null, path: null, parameter: 'a' }] }, 403],
] satisfies [string, WafOptions, number][])(
  'for a body that cannot be unpacked, %s holds',
  async (_what, over, status) => {
    expect((await post(await withWaf(over), ...packed(brotliCompressSync('a=1'), 'br'))).status).toBe(status);
  },
);

test('an exception of a path also holds for long bodies', async () => {
  const exceptions = [{ rule: 'protocol-large-body', path: '/up', parameter: null }];
  const name = await withWaf({ bodyKiB: 1, largeBodies: 'deny', exceptions });
  expect((await post(name, PADDED)).status).toBe(200);
  expect((await post(name, `${FORM_ATTACK}&${PADDED}`)).status).toBe(403);
  expect((await post(name, PADDED, {}, '/other')).status).toBe(413);
});

test.each([
  ['a disabled rule', { disabledRules: ['protocol-compressed-body'] }],
  ['an exception', { exceptions: [{ rule: 'protocol-compressed-body', path: '/up', parameter: null }] }],
])('the limit holds for a long body that cannot be unpacked and passes by %s', async (_what, over) => {
  const headers = { 'Content-Encoding': 'br', 'Transfer-Encoding': 'chunked' };
  const refused = await post(await withWaf({ ...over, bodyKiB: 1, largeBodies: 'deny' }), LONG, headers);
  expect(refused.status).toBe(413);
  expect(await edge.accessLogEntry(refused)).toMatchObject({ rule: 'protocol-large-body' });
  const passed = await post(await withWaf({ ...over, bodyKiB: 1 }), LONG, headers);
  expect(passed.status).toBe(200);
  expect(await edge.accessLogEntry(passed)).toMatchObject({ cause: 'waf', rule: 'monitor/protocol-large-body' });
});

test('a long body that cannot be unpacked is refused although its start may pass', async () => {
  const headers = { 'Content-Encoding': 'br', 'Transfer-Encoding': 'chunked' };
  const refused = await post(await withWaf({ bodyKiB: 1 }), LONG, headers);
  expect(refused.status).toBe(403);
  expect(await edge.accessLogEntry(refused)).toMatchObject({ rule: 'protocol-compressed-body' });
});

test('an attack in a compressed body over HTTP/2 without Content-Length is refused', async () => {
  const name = await withWaf();
  const session = connect(`https://127.0.0.1:${edge.ports.https}`, { servername: name, rejectUnauthorized: false });
  onTestFinished(() => session.destroy());
  const stream = session.request({
    ':path': '/http2',
    ':authority': name,
    ':method': 'POST',
    'content-type': FORM,
    'content-encoding': 'gzip',
  });
  stream.end(gzipSync(FORM_ATTACK));
  const [headers] = await once(stream, 'response');
  stream.resume();
  // 411 where nginx cannot read such bodies.
  expect([403, 411]).toContain(headers[':status']);
  expect(edge.origin.asked('/http2')).toEqual([]);
});

test('a node without zlib starts, and refuses compressed bodies', async () => {
  const without = await started([{ file: 'edge/waf/inflate.lua', from: '"z", "libz.so.1"', to: '"no-such-library"' }]);
  const name = await withWaf({}, without);
  expect((await post(name, 'a=1', {}, '/up', without)).status).toBe(200);
  const refused = await post(name, gzipSync('a=1'), { 'Content-Encoding': 'gzip' }, '/up', without);
  expect(refused.status).toBe(403);
  expect(await without.accessLogEntry(refused)).toMatchObject({ rule: 'protocol-compressed-body' });
});
