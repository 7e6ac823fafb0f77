import { expect, test } from 'vitest';
import { VirtualNodeInput } from './virtual-nodes.ts';

const issuesOf = (lists: object) => VirtualNodeInput.safeParse({ name: 'cdn', ...lists }).error?.issues;

test('an address or a name stands once in a list', () => {
  expect(issuesOf({ ips: ['192.0.2.1', '192.0.2.2', '192.0.2.1'] })).toMatchObject([
    { path: ['ips', 2], message: 'duplicate IP' },
  ]);
  expect(issuesOf({ cnames: ['cdn.example.net', 'CDN.example.net'] })).toMatchObject([
    { path: ['cnames'], message: 'data already exists' },
  ]);
  expect(issuesOf({ ips: ['192.0.2.1'], cnames: ['cdn.example.net'] })).toBeUndefined();
});
