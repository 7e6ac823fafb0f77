import { expect, test } from 'vitest';
import { UsageError } from './command.ts';
import { parseOrigin } from './origin.ts';

test.each([
  ['192.0.2.1', { address: '192.0.2.1', port: 443 }],
  ['origin.example.com:8080', { address: 'origin.example.com', port: 8080 }],
  ['2001:db8::1', { address: '2001:db8::1', port: 443 }],
  ['[2001:db8::1]:8443', { address: '2001:db8::1', port: 8443 }],
])('the origin %s is understood', (text, origin) => {
  expect(parseOrigin(text, 'https')).toEqual(origin);
});

test.each(['', 'https://origin.example.com', 'origin:port', '[::1', 'a:1:2'])('the origin %j is refused', (text) => {
  expect(() => parseOrigin(text, 'http')).toThrow(UsageError);
});
