import { expect, test } from 'vitest';
import { trailOf } from './trail.ts';

const row = {
  siteName: 'Shop',
  host: 'shop.example.com',
  status: 200,
  cause: '',
  rule: '',
  cacheStatus: '',
  upstream: '',
};
const id = '01980000-0000-7000-8000-000000000001';
const brief = (written: string, over = {}) =>
  trailOf(written, { ...row, ...over }).trail.map(({ step, decision, detail, rule, status, microseconds }) =>
    [step, decision, status, detail, rule?.id, microseconds].filter((part) => part != null && part !== '').join(' '),
  );
const host = 'host passed shop.example.com → Shop';

test('a refused request ends with the rule that refused it', () => {
  const written = `8.2|tokenAuth,pass,3.1,;antiReferer,403,2.5,${id}`;
  expect(brief(written, { status: 403, cause: 'antiReferer', rule: id })).toEqual([
    host,
    'tokenAuth passed 3.1',
    `antiReferer refused 403 ${id} 2.5`,
  ]);
  expect(trailOf(written, row).microseconds).toBe(8.2);
});

test('a served request shows the rules of its path, its cache status and its origin', () => {
  expect(brief(`|rates,rule,,${id};cache,rule,,${id}`, { cacheStatus: 'MISS', upstream: '192.0.2.1:80' })).toEqual([
    host,
    `rates applied ${id}`,
    `cache applied ${id}`,
    'store fetched MISS',
    'origin fetched 192.0.2.1:80',
  ]);
  expect(brief('', { cacheStatus: 'HIT' })).toEqual([host, 'store served HIT']);
  expect(trailOf('', row).microseconds).toBeNull();
});

test('a row of an older node shows its cause', () => {
  expect(brief('', { status: 978, cause: 'antiCC', rule: 'zone/site' })).toEqual([host, 'antiCC refused 978 site']);
  const monitored = { cause: 'antiCC', rule: 'monitor/site', cacheStatus: 'HIT' };
  expect(brief('', monitored)).toEqual([host, 'antiCC passed monitor/site', 'store served HIT']);
});

test('each rule that only monitored and each white list is a step', () => {
  const other = id.replace(/1$/, '2');
  const notes = [`blacklist,white,,${id}`, `acl,would,,${id}`, `acl,match,,${other}`, `waf,would,,sqli-union-select`];
  const written = `9.1|${notes.join(';')};acl,pass,4.2,`;
  const last = { cause: 'waf', rule: 'monitor/sqli-union-select', cacheStatus: 'HIT' };
  expect(brief(written, last)).toEqual([
    host,
    `blacklist exempted ${id}`,
    `acl wouldBlock ${id}`,
    `acl wouldAllow ${other}`,
    'waf wouldBlock sqli-union-select',
    'acl passed 4.2',
    'store served HIT',
  ]);
});

test('a list of the zone is one step, though the row has another cause', () => {
  const refused = { status: 444, cause: 'blacklist', rule: id };
  expect(brief(`2|zoneLists,444,2.0,${id}`, refused)).toEqual([host, `zoneLists closed 444 ${id} 2`]);
  const monitored = { cause: 'blacklist', rule: `monitor/${id}`, cacheStatus: 'HIT' };
  expect(brief(`|zoneLists,would,,${id}`, monitored)).toEqual([host, `zoneLists wouldBlock ${id}`, 'store served HIT']);
});

test('a step that has the name of a property of all objects is a step', () => {
  expect(trailOf(`1|constructor,403,1,${id}`, row).trail[1]).toMatchObject({ rule: { kind: 'constructor', id } });
});

test('what a node writes wrongly is left out', () => {
  expect(brief('x|<script>;a,b;,,,;cache,rule,,')).toEqual([host, 'cache applied']);
  expect(brief(`1|${'a,pass,1,;'.repeat(100)}`)).toHaveLength(33);
});
