import { SimulateInput } from '@edgeloom/contract/simulate/simulate.ts';
import { expect, test } from 'vitest';
import { curlOf } from '../logs/curl.ts';
import { draftOf, isPastedRequest } from './pasted-request.ts';
import { emptyRequest, inputOf } from './request-draft.ts';

const URL_TEXT = 'https://www.example.com/a';
const lines = (text: string) => draftOf(text).headers.split('\n');
const FORM = 'Content-Type: application/x-www-form-urlencoded';

test('a curl command without options is a GET as curl sends it', () => {
  expect(draftOf(`$ curl ${URL_TEXT}`)).toEqual({
    method: 'GET',
    url: URL_TEXT,
    headers: 'User-Agent: curl/8.14.1\nAccept: */*',
    body: '',
  });
  expect(draftOf('curl www.example.com').url).toBe('http://www.example.com/');
});

test.each([
  ['-d a=1 -d b=2', 'POST', 'a=1&b=2', FORM],
  ["--data-raw '@a'", 'POST', '@a', FORM],
  ["--data-binary $'a\\r\\nb'", 'POST', 'a\r\nb', FORM],
  ["--data-urlencode 'q=a b!' --data-urlencode 中", 'POST', 'q=a%20b%21&%E4%B8%AD', FORM],
  [`--json '{"a":1}'`, 'POST', '{"a":1}', 'Content-Type: application/json'],
  ['-XPUT -da', 'PUT', 'a', FORM],
  ["-d a -H 'content-type: text/plain'", 'POST', 'a', 'content-type: text/plain'],
])('curl %s has a body', (options, method, body, type) => {
  expect(draftOf(`curl ${URL_TEXT} ${options}`)).toMatchObject({ method, body });
  expect(lines(`curl ${URL_TEXT} ${options}`).filter((line) => /^content-type/i.test(line))).toEqual([type]);
});

test('a form of curl is multipart', () => {
  const { body, headers } = draftOf(`curl ${URL_TEXT} -F 'a=1;type=text/html' --form-string 'b=@x;y'`);
  const boundary = /boundary=(.*)/.exec(headers)?.[1];
  expect(body.split('\r\n')).toEqual([
    `--${boundary}`,
    'Content-Disposition: form-data; name="a"',
    'Content-Type: text/html',
    '',
    '1',
    `--${boundary}`,
    'Content-Disposition: form-data; name="b"',
    '',
    '@x;y',
    `--${boundary}--`,
    '',
  ]);
});

test.each([
  ['-G -d q=1', 'GET', `${URL_TEXT}?q=1`],
  ['-I', 'HEAD', URL_TEXT],
  ['-X delete', 'DELETE', URL_TEXT],
  ['-sSLk --compressed --max-time 5 -o out', 'GET', URL_TEXT],
  ['--resolve www.example.com:443:192.0.2.1 --no-keepalive', 'GET', URL_TEXT],
])('curl %s is %s %s without a body', (options, method, url) => {
  expect(draftOf(`curl ${URL_TEXT} ${options}`)).toMatchObject({ method, url, body: '' });
});

test.each([
  ["-H 'Accept: text/html' -H 'User-Agent:'", ['Accept: text/html']],
  ["-H 'X-Empty;' -A x", ['User-Agent: x', 'Accept: */*', 'X-Empty: ']],
  [
    '-u a:中 -e https://b/',
    ['User-Agent: curl/8.14.1', 'Accept: */*', 'Authorization: Basic YTrkuK0=', 'Referer: https://b/'],
  ],
  ['-b a=1 -b b=2', ['User-Agent: curl/8.14.1', 'Accept: */*', 'Cookie: a=1; b=2']],
  // The node sets these.
  ["-H 'Connection: close' -H 'content-length: 5' -H 'X-E-At: x'", ['User-Agent: curl/8.14.1', 'Accept: */*']],
])('curl %s sends the headers %j', (options, headers) => {
  expect(lines(`curl ${URL_TEXT} ${options}`)).toEqual(headers);
});

test('a request to the address of a node is for the host of its header', () => {
  expect(draftOf("curl -H 'Host: www.example.com' http://192.0.2.1:8080/a?b#c").url).toBe('http://www.example.com/a?b');
  const { url, headers } = draftOf('curl https://a%40b:c@www.example.com/');
  expect(url).toBe('https://www.example.com/');
  expect(headers).toContain(`Authorization: Basic ${btoa('a@b:c')}`);
});

test.each([
  ['-d @file', 'file', '-d'],
  ['-F a=@file', 'file', '-F'],
  ['--data-urlencode a@file', 'file', '--data-urlencode'],
  ['-b cookies.txt', 'file', '-b'],
  ['-T file', 'file', '-T'],
  ['--frobnicate', 'option', '--frobnicate'],
  ['-sZ?', 'option', '-?'],
  ['--constructor', 'option', '--constructor'],
  ['-H', 'value', '-H'],
  ['https://b/', 'secondURL', ''],
  ['-X TRACE', 'method', 'TRACE'],
  ["-d 'a", 'openQuote', ''],
])('curl %s is refused: %s %s', (options, reason, subject) => {
  expect(() => draftOf(`curl ${URL_TEXT} ${options}`)).toThrow(expect.objectContaining({ reason, subject }));
});

test('a command without a URL is refused', () => {
  expect(() => draftOf('curl -k')).toThrow('noURL');
  expect(() => draftOf('GET / HTTP/1.1\nAccept: */*\n\n')).toThrow('noURL');
});

test('a raw request is read with its body, up to its length', () => {
  const head = `POST /a?b HTTP/1.1\r\nHost: www.example.com\r\nContent-Type: text/plain\r\n`;
  const draft = { method: 'POST', url: 'https://www.example.com/a?b', headers: 'Content-Type: text/plain' };
  expect(draftOf(`${head}\r\nq=中\r\n`)).toEqual({ ...draft, body: 'q=中' });
  expect(draftOf(`${head}Content-Length: 5\r\n\r\nq=中\r\n`)).toEqual({ ...draft, body: 'q=中' });
  expect(draftOf(`${head.replaceAll('\r', '')}\na\n\nb`)).toEqual({ ...draft, body: 'a\n\nb' });
  expect(draftOf('GET http://a.example/x HTTP/1.1\nHost: www.example.com:80').url).toBe('http://www.example.com:80/x');
});

test('the line breaks of a copied multipart body are those of the protocol', () => {
  const raw = 'POST / HTTP/2\nHost: a\nContent-Type: multipart/form-data; boundary=x\n\n--x\nA: b\n\n1\n--x--\n';
  expect(draftOf(raw).body).toBe('--x\r\nA: b\r\n\r\n1\r\n--x--');
});

test.each([
  ['curl x', true],
  [' $ curl.exe x', true],
  ['GET / HTTP/1.1\nHost: a', true],
  ['https://www.example.com/curl x', false],
  ['curly', false],
])('%j is a request: %s', (text, is) => expect(isPastedRequest(text)).toBe(is));

test('a command copied from a log row can be pasted', () => {
  const row = {
    method: 'POST',
    scheme: 'https',
    host: 'shop.glow.tw',
    port: 8443,
    uri: "/a'b",
    args: 'q=$1',
    userAgent: "it's",
    referer: '',
  };
  const draft = draftOf(curlOf(row));
  expect(draft).toEqual({
    method: 'POST',
    url: "https://shop.glow.tw:8443/a'b?q=$1",
    headers: "Accept: */*\nUser-Agent: it's",
    body: '',
  });
  expect(SimulateInput.safeParse(inputOf({ ...emptyRequest, ...draft })).success).toBe(true);
});
