import { expect, test } from 'vitest';
import { matchedRulesOf, monitoredRulesOf, originAttemptsOf } from './rules-and-attempts.ts';

const [first, second] = ['019e9b05-3f0e-7bbb-8a4e-6c1ef7cf0d11', '019e9b05-3f0e-7bbb-8a4e-6c1ef7cf0d22'];

test.each([
  ['a request without rules has none', '', '', []],
  ['a refusal has its rule once', first, `9.8|tokenAuth,pass,4.1,;acl,929,5.7,${first}`, [first]],
  ['a monitored rule counts', `monitor/${first}`, '', [first]],
  ['rules of the path count', '', `|rates,rule,,${first};cache,rule,,${second}`, [first, second]],
  [
    'a rule beyond its budget, a WAF rule and a cause of a zone do not count',
    `over/${first}`,
    `2|waf,929,2,942100`,
    [],
  ],
])('%s', (_, rule, trail, ids) => {
  expect(matchedRulesOf({ rule, trail })).toEqual(ids);
});

test.each([
  ['a rule that refused the request only matched', first, `9.8|acl,929,5.7,${first}`, []],
  [
    'two monitored rules before a refusal',
    '',
    `|acl,would,,${first};acl,would,,${second};antiHeader,403,1,`,
    [first, second],
  ],
  ['a monitored rule counts once', `monitor/${first}`, `|blacklist,would,,${first}`, [first]],
  ['an older node names the last monitored rule', `monitor/${first}`, '', [first]],
  [
    'neither a white list nor a monitored rule that allows',
    `monitor/${second}`,
    `|blacklist,white,,${first};acl,match,,${second}`,
    [],
  ],
  // Regression: the last rule counted when its note had no room, also if it allows.
  ['a rule without a note beside others that have one', `monitor/${second}`, `|acl,would,,${first}`, [first]],
  ['a WAF rule and a cause of a zone have no ID', 'monitor/everyone', '|waf,would,,sqli-union-select', []],
])('would have blocked: %s', (_, rule, trail, ids) => {
  expect(monitoredRulesOf({ rule, trail })).toEqual(ids);
});

test.each([
  ['', 200, []],
  ['192.0.2.1:80', 200, [['192.0.2.1:80', false]]],
  ['[2001:db8::1]:443', 503, [['[2001:db8::1]:443', true]]],
  ['192.0.2.1:80', 929, [['192.0.2.1:80', false]]],
  [
    '192.0.2.1:80 (o.example.com), [2001:db8::1]:443 (o.example.com)',
    200,
    [
      ['o.example.com:80', true],
      ['o.example.com:443', false],
    ],
  ],
  ['192.0.2.1:80, 192.0.2.1:80', 200, [['192.0.2.1:80', false]]],
  [
    '192.0.2.1:80, 192.0.2.1:80, 192.0.2.2:80',
    502,
    [
      ['192.0.2.1:80', true],
      ['192.0.2.2:80', true],
    ],
  ],
  [
    '192.0.2.1:80, 192.0.2.2:80',
    200,
    [
      ['192.0.2.1:80', true],
      ['192.0.2.2:80', false],
    ],
  ],
])('the attempts of "%s" with status %i', (upstream, status, expected) => {
  const attempts = originAttemptsOf({ upstream, status, cache: 'MISS' });
  expect(attempts.map(({ origin, hasFailed }) => [origin, hasFailed])).toEqual(expected);
});

test('a revalidated response has no attempts, since its origins are those of the stored one', () => {
  const upstream = '192.0.2.1:80, 192.0.2.2:80';
  expect(originAttemptsOf({ upstream, status: 200, cache: 'REVALIDATED' })).toEqual([]);
});
