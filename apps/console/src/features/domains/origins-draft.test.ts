import { expect, test } from 'vitest';
import { newOrigin } from '../../components/origins/origins.ts';
import { changesOf, draftOf, faultsOf, planOf, type Domain, type Draft } from './origins-draft.ts';

const upstream = {
  id: '01990000-0000-7000-8000-000000000001',
  address: '203.0.113.24',
  port: 80,
  weight: 60,
  backup: false,
  enabled: true,
};
const domain: Domain = {
  id: '01990000-0000-7000-8000-00000000000a',
  siteID: '01990000-0000-7000-8000-00000000000b',
  name: 'shop.glow.tw',
  status: 1,
  tags: [],
  cnameStatus: 'active',
  cnameCheckAt: '2026-11-24T12:00:00.000Z',
  certCheckAt: null,
  certStatus: 'none',
  forceSSL: false,
  hsts: null,
  minTLS: 'TLSv1.2',
  originVerify: false,
  originCertificateID: null,
  certificateID: null,
  slowStartSeconds: 0,
  healthCheck: null,
  scheme: 'http',
  portMap: [],
  hashType: 'roundRobin',
  hostReplace: null,
  sni: null,
  maxFails: 3,
  failTimeoutSeconds: 10,
  connectTimeoutSeconds: 5,
  readTimeoutSeconds: 60,
  websocketTimeoutSeconds: 3600,
  upstreams: [upstream],
  proof: null,
  createdAt: '2026-01-01T00:00:00Z',
  updatedAt: '2026-01-01T00:00:00Z',
};
const live = draftOf(domain);
const [origin] = live.origins;
if (!origin) throw new Error('the domain has an origin');
const words = (draft: Draft) => changesOf(live, draft, (word, values) => `${word} ${JSON.stringify(values ?? {})}`);

test('a draft that differs nowhere changes nothing and calls nothing', () => {
  expect(words(draftOf(domain))).toEqual([]);
  expect(planOf(live, draftOf(domain))).toEqual({ https: null, update: null, create: [], change: [], remove: [] });
  expect(faultsOf(live)).toEqual({});
});

test('each change is one entry of the save bar', () => {
  const draft = {
    ...live,
    maxFails: 5,
    origins: [
      { ...origin, weight: 70, enabled: false },
      { ...newOrigin(80), address: '203.0.113.25' },
    ],
  };
  expect(words(draft)).toHaveLength(4);
});

test('only what differs is called', () => {
  const added = { ...newOrigin(443), address: 'origin-b.glow.tw' };
  const plan = planOf(live, { ...live, scheme: 'https', hostReplace: 'shop.glow.tw', origins: [added] });
  expect(plan.https).toEqual({ scheme: 'https', portMap: [] });
  expect(plan.update).toMatchObject({ hostReplace: 'shop.glow.tw', sni: null });
  expect(plan.create).toEqual([{ address: 'origin-b.glow.tw', port: 443, weight: 10, backup: false, enabled: true }]);
  expect(plan.change).toEqual([]);
  expect(plan.remove).toEqual([upstream.id]);
});

test('faults are found where they are, by the contract itself', () => {
  const empty = newOrigin(80);
  const faults = faultsOf({
    ...live,
    scheme: 'follow',
    hostReplace: 'a b',
    failTimeoutSeconds: 0,
    origins: [
      { ...origin, enabled: false },
      { ...empty, enabled: false },
    ],
  });
  expect(faults).toMatchObject({
    portMap: { message: 'required' },
    hostReplace: { rule: 'format' },
    [`origins.${empty.key}.address`]: { message: 'required' },
    origins: { message: 'none enabled' },
    failTimeoutSeconds: { rule: 'minimum', values: { minimum: 1 } },
  });
});

test('two origins with the same address and port are duplicates', () => {
  const twin = { ...newOrigin(80), address: origin.address };
  expect(faultsOf({ ...live, origins: [origin, twin] })).toMatchObject({
    [`origins.${twin.key}.address`]: { message: 'data already exists' },
  });
});
