import { CacheRuleInput } from '@edgeloom/contract/cache/cache.ts';
import { NodeSSHInput } from '@edgeloom/contract/nodes/nodes.ts';
import { TokenAuthInput } from '@edgeloom/contract/modules/token-auths.ts';
import { dnsAccountForms } from '@edgeloom/contract/dns-account/dns-account.ts';
import { DomainInput } from '@edgeloom/contract/domains/domains.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { ProductInput } from '@edgeloom/contract/products/products.ts';
import { expect, test } from 'vitest';
import { acceptedOf, choicesOf, defaultsOf, fieldOf, isOptional, issuesOf, withoutSecrets } from './schema.ts';

const rulesOf = (schema: unknown, input: unknown) => issuesOf(schema, input).map(({ path, rule }) => `${path} ${rule}`);

test('a new form starts at the defaults of the schema', () => {
  expect(defaultsOf(ProductInput)).toMatchObject({ memo: '', siteLimit: 0, sellType: 'business' });
  expect(defaultsOf(ProductInput)).not.toHaveProperty('name');
});

test('an edit takes of a row what the body accepts', () =>
  expect(acceptedOf(nodes.update.body, { id: '1', name: 'tpe-01', zoneName: 'Asia', status: 'enabled' })).toEqual({
    id: '1',
    name: 'tpe-01',
  }));

test('an edit leaves out what only the reply has, also in lists', () => {
  const upstreams = [{ address: 'a.example.com', port: 80, id: '7', isHealthy: true }];
  expect(acceptedOf(DomainInput, { name: 'a.example.com', upstreams })).toEqual({
    name: 'a.example.com',
    upstreams: [{ address: 'a.example.com', port: 80 }],
  });
});

test('choices are those of the enum, also within lists and defaults', () => {
  expect(choicesOf(fieldOf(ProductInput, 'sellType'))).toEqual(['personal', 'business']);
  expect(choicesOf(fieldOf(nodes.list.query, 'sortBy'))).toEqual(expect.arrayContaining(['name', 'createdAt', 'ip']));
  expect(choicesOf(fieldOf(nodes.list.query, 'status'))).toContain('rejected');
});

test('a missing field is required, and an invalid one names its rule', () => {
  expect(rulesOf(ProductInput, {})).toEqual(['name required', 'zoneID required']);
  expect(rulesOf(ProductInput, { name: 'x', zoneID: 'nonsense', siteLimit: -1 })).toEqual([
    'zoneID format',
    'siteLimit minimum',
  ]);
  expect(rulesOf(DomainInput, { name: 'a.example.com', upstreams: [] })).toEqual(['upstreams required']);
});

test('a rule of the schema’s own keeps its words and its place', () =>
  expect(issuesOf(CacheRuleInput, { type: 'prefix', value: ['img'], cacheTime: 60 })).toMatchObject([
    { path: 'value.0', rule: 'rule', message: 'a path starts with / and names no host' },
  ]));

test('a memo may stay empty, a name may not', () => {
  expect(isOptional(fieldOf(ProductInput, 'memo'))).toBe(true);
  expect(isOptional(fieldOf(ProductInput, 'name'))).toBe(false);
});

test('a draft holds no password and no key, wherever it stands in the input', () => {
  expect(withoutSecrets(NodeSSHInput, { port: 22, user: 'root', password: 'p', privateKey: 'k' })).toEqual({
    port: 22,
    user: 'root',
  });
  const account = { keyID: 'AKIA', keySecret: 's', edition: 'china', apiToken: 'typed for another provider' };
  expect(withoutSecrets(dnsAccountForms({}).route53, account)).toEqual({ keyID: 'AKIA', edition: 'china' });
  const keys = [{ key: 'a-new-key' }, { id: '5f0c' }];
  expect(withoutSecrets(TokenAuthInput, { name: 'a', auths: [{ name: 'one', keys }] })).toMatchObject({
    auths: [{ name: 'one', keys: [{ key: '' }, { id: '5f0c' }] }],
  });
});
