import { expect, test } from 'vitest';
import type { Weighting } from '@edgeloom/contract/dns-setting/lines.ts';
import { offeredLines, type OfferedLines } from './offered-lines.ts';
import { isSame, recordsOf } from './records.ts';
import type { WantedSet } from './sets.ts';

const set = (line: string, type: WantedSet['type'], ...values: [string, number?][]): WantedSet => ({
  line,
  type,
  values: values.map(([value, weight = 50]) => ({ value, weight })),
  ttlSeconds: 60,
});
const offer = (lines: OfferedLines, weighting: Weighting = 'eachLine') => ({ lines, weighting });
const everybody = set('default', 'A', ['192.0.2.1']);
const name = 'g-1.cdn.example.net';

test.each([
  [
    'dnspod',
    [
      { id: '10=0', name: '电信' },
      { id: '3=0', name: '境外' },
      { id: '5=9', name: '日本' },
    ],
    { ct: '10=0', overseas: '3=0', 'country-JP': '5=9' },
  ],
  [
    'aliDNS',
    [
      { id: 'unicom', name: 'China Unicom' },
      { id: 'os_asia_jp', name: 'Japan' },
      { id: 'x', name: 'Baidu' },
    ],
    { cu: 'unicom', 'country-JP': 'os_asia_jp' },
  ],
  [
    'huaweiCloud',
    [
      { id: 'Yidong', name: 'Mobile' },
      { id: 'TW', name: 'Taiwan (China)' },
      { id: 'EU', name: 'Europe' },
    ],
    { cm: 'Yidong', 'country-TW': 'TW', 'continent-EU': 'EU' },
  ],
  [
    'route53',
    [
      { id: 'continent-AS', name: 'Asia' },
      { id: 'TW', name: 'Taiwan' },
      { id: 'US-CA', name: 'California' },
    ],
    { 'continent-AS': 'continent-AS', 'country-TW': 'TW' },
  ],
  ['cloudflare', [], {}],
  ['powerDNS', [], {}],
] as const)(
  '%s calls our lines by its own names, and what it does not list is not offered',
  (provider, listed, expected) => {
    expect(offeredLines(provider, listed)).toEqual(expected);
  },
);

test('PowerDNS offers places where it has a database of them, and carriers where it has one of networks', () => {
  const places = offeredLines('powerDNS', [{ id: 'places', name: '' }]);
  expect(places).toMatchObject({ 'country-TW': 'country-TW', 'continent-EU': 'continent-EU', overseas: 'overseas' });
  expect(places).not.toHaveProperty('cht');
  expect(offeredLines('powerDNS', [{ id: 'networks', name: '' }])).toHaveProperty('cht');
});

test('a line that the provider lacks is left out; the others have the provider’s name', () => {
  const wanted = [everybody, set('ct', 'A', ['192.0.2.2']), set('cht', 'A', ['192.0.2.3'])];
  expect(recordsOf('dnspod', offer({ ct: '10=0' }), name, wanted)).toEqual([
    { name, type: 'A', values: ['192.0.2.1'], ttlSeconds: 60 },
    { name, type: 'A', values: ['192.0.2.2'], ttlSeconds: 60, line: '10=0' },
  ]);
});

test('of lines PowerDNS has a program: carriers before countries before continents, and everybody last', () => {
  const lines = ['continent-AS', 'overseas', 'country-TW', 'cht'].map((line, i) =>
    set(line, 'A', [`192.0.2.${i + 2}`]),
  );
  const offered = Object.fromEntries(lines.map(({ line }) => [line, line]));
  const [record, ...others] = recordsOf('powerDNS', offer(offered), name, [
    everybody,
    ...lines,
    set('default', 'AAAA', ['2001:DB8:0::1']),
  ]);
  expect(others).toEqual([]);
  expect(record).toMatchObject({ type: 'LUA', ttlSeconds: 60 });
  expect(record?.values).toEqual([
    `A ";if asnum({'3462'}) then return {'192.0.2.5'} end if country('TW') then return {'192.0.2.4'} end if continent('AS') then return {'192.0.2.2'} end if countryCode() ~= '--' and not country({'CN','HK','MO','TW'}) then return {'192.0.2.3'} end return {'192.0.2.1'}"`,
    `AAAA ";return {'2001:db8::1'}"`,
  ]);
});

test('weights are given as the provider can take them, and where it cannot all are answered', () => {
  const shared = set('default', 'A', ['192.0.2.1', 90], ['192.0.2.2', 10]);
  const ofLine = set('ct', 'A', ['192.0.2.3', 70], ['192.0.2.4', 30]);
  const drawn = [`A ";return pickwrandom({{90,'192.0.2.1'},{10,'192.0.2.2'}})"`];
  const both = ['192.0.2.1', '192.0.2.2'];
  expect(recordsOf('powerDNS', offer({}), name, [shared])).toMatchObject([{ type: 'LUA', values: drawn }]);
  // A provider without LUA support would return no answer for such a record.
  expect(recordsOf('powerDNS', offer({}, 'none'), name, [shared])).toMatchObject([{ type: 'A', values: both }]);
  const weightsAt = (...given: Parameters<typeof recordsOf>) => recordsOf(...given).map(({ weights }) => weights);
  expect(weightsAt('dnspod', offer({ ct: '10=0' }), name, [shared, ofLine])).toEqual([
    [90, 10],
    [70, 30],
  ]);
  expect(weightsAt('route53', offer({}, 'oneLine'), name, [shared, ofLine])).toEqual([[90, 10]]);
  expect(weightsAt('route53', offer({ ct: 'CN' }, 'oneLine'), name, [shared, ofLine])).toEqual([undefined, undefined]);
  expect(weightsAt('cloudflare', offer({}, 'none'), name, [shared])).toEqual([undefined]);
  expect(weightsAt('aliDNS', offer({}), name, [set('default', 'A', ['192.0.2.1', 30], ['192.0.2.2', 30])])).toEqual([
    undefined,
  ]);
  const many = (count: number) =>
    set('default', 'A', ...Array.from({ length: count }, (_, i): [string, number] => [`192.0.2.${i}`, i + 1]));
  expect(weightsAt('huaweiCloud', offer({}), name, [many(20)])[0]).toHaveLength(20);
  expect(weightsAt('huaweiCloud', offer({}), name, [many(21)])).toEqual([undefined]);
});

test('an alias on a line beside addresses stays only where each line stands for itself', () => {
  const wanted = [everybody, set('ct', 'CNAME', ['Other.Example.org.'])];
  expect(recordsOf('dnspod', offer({ ct: '10=0' }), name, wanted)).toHaveLength(2);
  expect(recordsOf('huaweiCloud', offer({ ct: 'Dianxin' }), name, wanted)).toMatchObject([{ type: 'A' }]);
  expect(recordsOf('dnspod', offer({ ct: '10=0' }), name, wanted)[1]).toMatchObject({ values: ['other.example.org'] });
});

test.each([
  ['A', `192.0.2.1'}) os.execute('id')`],
  ['A', '2001:db8::1'],
  ['A', '1.2'],
  ['AAAA', '192.0.2.1'],
  ['CNAME', 'a name.example'],
  ['CNAME', '192.0.2.1'],
  ['CNAME', `x'--.example`],
] as const)('an %s value %s is refused', (type, value) => {
  expect(() => recordsOf('powerDNS', offer({}), name, [set('default', type, [value])])).toThrow(`is no ${type} value`);
});

test('a raised time to live is no difference; neither is another order of values; a lowered one is, and other weights are', () => {
  const record = { name, type: 'A' as const, values: ['192.0.2.1', '192.0.2.2'], ttlSeconds: 60 };
  expect(isSame({ ...record, ttlSeconds: 600 }, record)).toBe(true);
  expect(isSame({ ...record, values: record.values.toReversed() }, record)).toBe(true);
  expect(isSame({ ...record, ttlSeconds: 1 }, record)).toBe(false);
  expect(isSame(undefined, record)).toBe(false);
  const shared = { ...record, weights: [90, 10] };
  expect(isSame(record, shared)).toBe(false);
  expect(isSame({ ...shared, weights: [10, 90] }, shared)).toBe(false);
  expect(isSame({ ...shared, values: record.values.toReversed(), weights: [10, 90] }, shared)).toBe(true);
});
