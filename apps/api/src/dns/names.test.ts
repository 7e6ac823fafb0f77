import { expect, test } from 'vitest';
import { fullName, plainName, plainValue, quoted, unquoted, withinZone } from './names.ts';

test('a name within its zone and in full are one another’s counterparts', () => {
  for (const name of ['example.com', 'www.example.com', '*.example.com', '_acme-challenge.a.example.com'])
    expect(fullName('example.com', withinZone('example.com', name))).toBe(name);
  expect(withinZone('example.com', 'example.com')).toBe('@');
  expect(withinZone('example.com', 'notexample.com')).toBe('notexample.com');
});

test('names are compared in lower case ASCII without a dot at the end', () => {
  expect(plainName('_acme-challenge.例子.COM.')).toBe('_acme-challenge.xn--fsqu00a.com');
  expect(plainValue('CNAME', 'Site.CDN.example.net.')).toBe('site.cdn.example.net');
  expect(plainValue('AAAA', '2001:0DB8:0:0::1')).toBe('2001:db8::1');
});

test('texts survive being quoted, whatever is in them and however long they are', () => {
  for (const text of ['', 'v=1; p=abc', 'say "hi" \\ bye', '例'.repeat(300), 'x'.repeat(1000)])
    expect(unquoted(quoted(text))).toBe(text);
  expect(quoted('x'.repeat(256))).toBe(`"${'x'.repeat(255)}" "x"`);
  expect(unquoted('not quoted')).toBe('not quoted');
});
