// DNS accounts at the large clouds, against fake vendors that implement the documented APIs and verify signatures.
// `npm test` runs the first vendor.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { DnsRecords } from './account.ts';
import { openDns } from './provider.ts';
import { DnsCredentials } from '@edgeloom/contract/dns-account/dns-account.ts';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { isSignedByAlibaba, startAliDns } from '../../../../tests/support/fakes/dns-vendors/ali-dns.ts';
import { isSignedByTencent, startDnspod } from '../../../../tests/support/fakes/dns-vendors/dnspod.ts';
import { isSignedByHuawei, startHuaweiCloud } from '../../../../tests/support/fakes/dns-vendors/huawei-cloud.ts';
import { isSignedByAmazon, startRoute53 } from '../../../../tests/support/fakes/dns-vendors/route-53.ts';
import { casesOfRun } from '../../../../tests/support/builders/long-run.ts';
import type { VendorRequest, FakeVendor } from '../../../../tests/support/fakes/dns-vendors/fake-vendor.ts';

const zone = 'example.com';
/** One line of each vendor, and its name of the default line. */
const vendors = [
  {
    provider: 'dnspod',
    start: startDnspod,
    line: '10=0',
    everybody: '0',
    wrong: /could not be validated.*AuthFailure/,
  },
  {
    provider: 'aliDNS',
    start: startAliDns,
    line: 'telecom',
    everybody: 'default',
    wrong: /does not match.*SignatureDoes/,
  },
  { provider: 'route53', start: startRoute53, line: 'continent-AS', everybody: '', wrong: /signature we calculated/ },
  {
    provider: 'huaweiCloud',
    start: startHuaweiCloud,
    line: 'Dianxin',
    everybody: 'default_view',
    wrong: /aksk.*APIGW.0301/,
  },
] as const;

const open = (provider: string, { url, key }: Pick<FakeVendor, 'url' | 'key'>, keySecret = key.keySecret) =>
  openDns(
    { ORIGIN_ALLOW: ['127.0.0.0/8'], ORIGIN_DENY: [], DNS_ENDPOINTS: { [provider]: url } },
    DnsCredentials.parse({ provider, credentials: { ...key, keySecret } }),
  );
const set = (name: string, type: DnsRecords['type'], values: string[], line?: string): DnsRecords => ({
  name,
  type,
  values,
  ttlSeconds: 600,
  ...(line !== undefined && { line }),
});
/** Values with weights, unordered. */
const shares = (records: DnsRecords[]) =>
  records.map(({ values, weights }) => values.map((value, at) => `${value} ${weights?.[at] ?? 'alike'}`).toSorted());
const sorted = (records: DnsRecords[]) =>
  records
    .map((one) => ({ ...one, values: one.values.toSorted() }))
    .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

describe.each(casesOfRun(vendors, vendors.length))('$provider', ({ provider, start, line, everybody, wrong }) => {
  let vendor: FakeVendor;
  beforeAll(async () => {
    vendor = await start(zone);
  });
  afterAll(() => vendor.stop());
  const account = () => open(provider, vendor);
  const all = async () => sorted(await account().list(zone));

  test('a name gets exactly the given values, for every kind of name, and can be deleted', async () => {
    const sets = [
      set(zone, 'A', ['192.0.2.1', '192.0.2.2']),
      set(`*.${zone}`, 'AAAA', ['2001:db8::1']),
      set(`www.${zone}`, 'CNAME', ['site.cdn.example.net']),
      set('_acme-challenge.xn--fsqu00a.example.com', 'TXT', ['one', 'x'.repeat(600)]),
    ];
    for (const one of sets) await account().upsert(zone, one);
    expect(await all()).toEqual(sorted(sets));
    const next = [
      set(zone, 'A', ['192.0.2.2', '192.0.2.3', '192.0.2.4']),
      set(`*.${zone}`, 'AAAA', ['2001:db8::2']),
      set(`www.${zone}`, 'CNAME', ['other.cdn.example.net']),
      set('_acme-challenge.xn--fsqu00a.example.com', 'TXT', ['two']),
    ];
    for (const one of next) await account().upsert(zone, one);
    expect(await all()).toEqual(sorted(next));
    await account().upsert(zone, { ...set(zone, 'A', ['192.0.2.9']), ttlSeconds: 300 });
    expect(await all()).toContainEqual({ ...set(zone, 'A', ['192.0.2.9']), ttlSeconds: 300 });
    for (const one of next) await account().remove(zone, one);
    expect(await all()).toEqual([]);
    expect(vendor.records.gaps).toEqual([]);
  });

  test('repeating a write changes nothing', async () => {
    const one = set(`same.${zone}`, 'CNAME', ['Site.CDN.example.net.']);
    await account().upsert(zone, one);
    await account().upsert(zone, one);
    expect(await all()).toEqual([set(`same.${zone}`, 'CNAME', ['site.cdn.example.net'])]);
    await account().remove(zone, one);
    await account().remove(zone, one);
  });

  test('a line has its own values beside the default ones', async () => {
    const name = `lines.${zone}`;
    const lines = await account().lines(zone);
    expect(lines.map(({ id }) => id)).toContain(line);
    expect(lines.map(({ id }) => id)).not.toContain(everybody);
    expect(new Set(lines.map(({ id }) => id)).size).toBe(lines.length);
    await account().upsert(zone, set(name, 'A', ['192.0.2.1']));
    await account().upsert(zone, set(name, 'A', ['192.0.2.5', '192.0.2.6'], line));
    await account().upsert(zone, set(name, 'A', ['192.0.2.2']));
    expect(await all()).toEqual(
      sorted([set(name, 'A', ['192.0.2.2']), set(name, 'A', ['192.0.2.5', '192.0.2.6'], line)]),
    );
    await account().remove(zone, set(name, 'A', [], line));
    expect(await all()).toEqual([set(name, 'A', ['192.0.2.2'])]);
    await account().upsert(zone, set(name, 'A', ['192.0.2.3']));
    expect(await all()).toEqual([set(name, 'A', ['192.0.2.3'])]);
    await account().remove(zone, set(name, 'A', []));
    expect(await all()).toEqual([]);
    expect(vendor.records.gaps).toEqual([]);
  });

  test('values are weighted, and stay resolvable during changes', async () => {
    const name = `shared.${zone}`;
    const [one, two, three] = ['192.0.2.1', '192.0.2.2', '192.0.2.3'];
    const weighted = (values: string[], weights: number[]) => ({ ...set(name, 'A', values), weights });
    const plain = set(name, 'A', [one, two]);
    for (const wanted of [
      plain,
      weighted([one, two], [90, 10]),
      weighted([one, two], [10, 90]),
      weighted([three, two, one], [5, 90, 10]),
      weighted([one, three], [60, 40]),
      set(name, 'A', [three]),
      plain,
      weighted([two, three], [1, 100]),
      plain,
    ]) {
      await account().upsert(zone, wanted);
      expect(shares(await account().list(zone, name))).toEqual(shares([wanted]));
      await account().upsert(zone, wanted);
      expect(shares(await account().list(zone))).toEqual(shares([wanted]));
    }
    await account().remove(zone, plain);
    expect(await all()).toEqual([]);
    expect(vendor.records.gaps).toEqual([]);
  });

  test('bulk reads happen once, and existing records are not written', async () => {
    const many = await start(zone);
    const names = Array.from({ length: 40 }, (_, at) => set(`many${at}.${zone}`, 'A', ['192.0.2.1', '192.0.2.2']));
    // Each run is separate, as in the reconciler.
    const run = async () => {
      const at = open(provider, many);
      const before = many.calls();
      if (at.change)
        await at.change(
          zone,
          names.map((put) => ({ put })),
        );
      await at.readAhead?.(zone);
      if (at.readAhead) await Promise.all(names.map((one) => at.upsert(zone, one)));
      return many.calls() - before;
    };
    // At most one request per record.
    expect(await run()).toBeLessThan(90);
    expect(shares(await open(provider, many).list(zone))).toHaveLength(40);
    expect(await run()).toBeLessThan(10);
    await many.stop();
  });

  test('a zone of 1,203 records is listed completely', async () => {
    const full = await start(zone);
    full.records.fill(zone, 1203, everybody);
    const names = (await open(provider, full).list(zone)).map(({ name }) => name);
    expect(new Set(names).size).toBe(1203);
    await full.stop();
  });

  test('a transient error is retried; a permanent one ends with the vendor’s message', async () => {
    vendor.rateLimitNext(2);
    expect(await account().list(zone)).toEqual([]);
    vendor.rateLimitNext(1000);
    const before = vendor.calls();
    await expect(account().list(zone)).rejects.toThrow(/request times|flow control|throttling|Rate exceeded/i);
    expect(vendor.calls() - before).toBe(4);
    vendor.rateLimitNext(0);
  });

  test('a wrong secret and a foreign zone fail with the vendor’s message', async () => {
    await expect(open(provider, vendor, 'another secret').list(zone)).rejects.toThrow(wrong);
    await expect(account().list('example.org')).rejects.toThrow(/example\.org|not exist|不存在/);
  });
});

test.each([
  { provider: 'dnspod', start: startDnspod },
  { provider: 'aliDNS', start: startAliDns },
])('$provider: a plan with a minimum TTL of ten minutes uses ten minutes', async ({ provider, start }) => {
  const vendor = await start(zone, { smallPlan: true });
  const proof = { ...set(`_acme-challenge.${zone}`, 'TXT', ['one']), ttlSeconds: 60 };
  await open(provider, vendor).upsert(zone, proof);
  await open(provider, vendor).upsert(zone, { ...proof, values: ['one', 'two'] });
  expect(await open(provider, vendor).list(zone)).toEqual([{ ...proof, values: ['one', 'two'], ttlSeconds: 600 }]);
  await vendor.stop();
});

test('an unresponsive vendor times out after ten seconds without retry', async () => {
  let asked = 0;
  const silent = createServer(() => (asked += 1));
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const at = silent.address();
  const url = `http://127.0.0.1:${typeof at === 'object' ? at?.port : 0}`;
  const key = { keyID: 'key', keySecret: 'secret' };
  // The ten seconds end when every vendor has its request.
  const limits: AbortController[] = [];
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
    const limit = new AbortController();
    limits.push(limit);
    return limit.signal;
  });
  const expectations = vendors.map(({ provider }) =>
    expect(open(provider, { url, key }).list(zone)).rejects.toThrow('no answer within 10 seconds'),
  );
  await expect.poll(() => asked).toBe(vendors.length);
  for (const limit of limits) limit.abort();
  await Promise.all(expectations);
  expect(timeout.mock.calls).toEqual(vendors.map(() => [10_000]));
  expect(asked).toBe(vendors.length);
  timeout.mockRestore();
  silent.closeAllConnections();
  silent.close();
});

describe('the fake vendors verify the signatures of the vendors’ documented examples', () => {
  const asked = (method: string, url: string, headers: Record<string, string>, body = ''): VendorRequest => ({
    method,
    url: new URL(url),
    headers: { host: new URL(url).host, ...headers },
    body,
  });
  const examples = [
    {
      name: 'Tencent Cloud',
      isSigned: isSignedByTencent,
      secret: '*'.repeat(32),
      call: asked(
        'POST',
        'https://cvm.tencentcloudapi.com/',
        {
          authorization: `TC3-HMAC-SHA256 Credential=AKID${'*'.repeat(32)}/2019-02-25/cvm/tc3_request, SignedHeaders=content-type;host;x-tc-action, Signature=10b1a37a7301a02ca19a647ad722d5e43b4b3cff309d421d85b46093f6ab6c4f`,
          'content-type': 'application/json; charset=utf-8',
          'x-tc-action': 'DescribeInstances',
          'x-tc-timestamp': '1551113065',
        },
        String.raw`{"Limit": 1, "Filters": [{"Values": ["\u672a\u547d\u540d"], "Name": "instance-name"}]}`,
      ),
    },
    {
      name: 'Alibaba Cloud',
      isSigned: isSignedByAlibaba,
      secret: 'YourAccessKeySecret',
      call: asked(
        'POST',
        'https://ecs.cn-shanghai.aliyuncs.com/?RegionId=cn-shanghai&ImageId=win2019_1809_x64_dtc_zh-cn_40G_alibase_20230811.vhd',
        {
          authorization:
            'ACS3-HMAC-SHA256 Credential=YourAccessKeyId,SignedHeaders=host;x-acs-action;x-acs-content-sha256;x-acs-date;x-acs-signature-nonce;x-acs-version,Signature=06563a9e1b43f5dfe96b81484da74bceab24a1d853912eee15083a6f0f3283c0',
          'x-acs-action': 'RunInstances',
          'x-acs-content-sha256': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
          'x-acs-date': '2023-10-26T10:22:32Z',
          'x-acs-signature-nonce': '3156853299f313e23d1673dc12e1703d',
          'x-acs-version': '2014-05-26',
        },
      ),
    },
    {
      name: 'Huawei Cloud',
      isSigned: isSignedByHuawei,
      secret: 'MFyfvK41ba2giqM7Uio6PznpdUKGpownRZlmVmHc',
      call: asked(
        'GET',
        'https://service.region.example.com/v1/77b6a44cba5143ab91d13ab9a8ff44fd/vpcs?limit=2&marker=13551d6b-755d-4757-b956-536f674975c0',
        {
          authorization:
            'SDK-HMAC-SHA256 Access=QTWAOYTTINDUT2QVKYUC, SignedHeaders=content-type;host;x-sdk-date, Signature=7be6668032f70418fcc22abc52071e57aff61b84a1d2381bb430d6870f4f6ebe',
          'content-type': 'application/json',
          'x-sdk-date': '20191115T033655Z',
        },
      ),
    },
    {
      name: 'Amazon',
      isSigned: isSignedByAmazon,
      secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
      call: asked('GET', 'https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08', {
        authorization:
          'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7',
        'content-type': 'application/x-www-form-urlencoded; charset=utf-8',
        'x-amz-date': '20150830T123600Z',
      }),
    },
  ];
  test.each(examples)('$name, and one letter makes another call of it', ({ isSigned, secret, call }) => {
    expect(isSigned(call, secret)).toBe(true);
    expect(isSigned({ ...call, body: `${call.body} ` }, secret)).toBe(false);
    expect(isSigned({ ...call, url: new URL(`${call.url.href}${call.url.search ? '0' : '?x=0'}`) }, secret)).toBe(
      false,
    );
    expect(isSigned({ ...call, headers: { ...call.headers, host: 'other.example.com' } }, secret)).toBe(false);
    expect(isSigned(call, `${secret}0`)).toBe(false);
  });
});
