import { describe, expect, test } from 'vitest';
import { usePreferences } from '../stores/preferences.ts';
import * as format from './format.ts';

const plain = (text: string) => text.replaceAll('\u00a0', ' ');

describe('numbers', () => {
  test.each([
    [0, '0 Byte'],
    [999, '999 Byte'],
    [1000, '1.00 KB'],
    [902_630_000_000, '902.63 GB'],
    [1_910_000_000_000, '1.91 TB'],
    [999_999, '1.00 MB'],
    [-1500, '−1.50 KB'],
  ])('%d bytes read %s', (value, text) => expect(plain(format.bytes(value))).toBe(text));

  test('bandwidth is in bits by thousands', () => {
    expect(plain(format.bits(4_210_000_000))).toBe('4.21 Gbps');
    expect(plain(format.bits(12))).toBe('12 bps');
  });

  test('counts are whole below a million, then two decimals', () => {
    expect(format.count(999_999)).toBe('999,999');
    expect(format.count(812_400_000)).toBe('812.40M');
    expect(format.count(1_380_000_000)).toBe('1.38B');
    expect(format.count(-4)).toBe('−4');
  });

  test('Chinese counts by ten thousands in sentences', () => {
    expect(plain(format.spokenCount(4_920_000, 'zh-TW'))).toBe('492.00 萬');
    expect(plain(format.spokenCount(1_380_000_000, 'zh-CN'))).toBe('13.80 亿');
    expect(format.spokenCount(4_920_000, 'en')).toBe('4.92M');
    expect(format.spokenCount(812, 'zh-TW')).toBe('812');
  });

  test('shares and money have two decimals', () => {
    expect(format.percent(0.9306)).toBe('93.06%');
    expect(format.percent(-0.017)).toBe('−1.70%');
    expect(plain(format.money(120))).toBe('NTD 1.20');
  });
});

describe('times', () => {
  const at = new Date(2026, 10, 20, 14, 32, 8, 7);

  test('a moment has its date first and 24 hours', () => {
    expect(format.time(at)).toBe('2026/11/20 14:32:08');
    expect(format.time(at, { milliseconds: true })).toBe('2026/11/20 14:32:08.007');
  });

  test.each([[null], [undefined], [''], ['0001-01-01T00:00:00Z'], ['nonsense']])('%s is not a moment', (text) =>
    expect(format.time(text)).toBe('—'),
  );

  test.each([
    ['Asia/Taipei', '2026/11/20 14:32:08', 'UTC+8'],
    ['America/St_Johns', '2026/11/20 03:02:08', 'UTC−3:30'],
    ['UTC', '2026/11/20 06:32:08', 'UTC+0'],
  ])('in %s the clock says so', (timeZone, text, zone) => {
    usePreferences.setState({ timeZone });
    const instant = new Date('2026-11-20T06:32:08Z');
    expect([format.time(instant), format.zoneName(instant)]).toEqual([text, zone]);
    usePreferences.setState({ timeZone: null });
  });

  test('a zone that this browser does not know is the browser’s own', () => {
    const own = format.time(at);
    usePreferences.setState({ timeZone: 'Nowhere/Atlantis' });
    expect(format.time(at)).toBe(own);
    usePreferences.setState({ timeZone: null });
  });

  test('midnight is hour 0 of its day', () => expect(format.time(new Date(2026, 10, 20))).toBe('2026/11/20 00:00:00'));

  test('the same instant is shown in UTC', () =>
    expect(format.utc(new Date('2026-11-20T06:32:08.500Z'))).toBe('2026/11/20 06:32:08 UTC'));

  test('durations name their two largest parts', () => {
    expect(plain(format.duration(192, 'en'))).toBe('3 min 12 s');
    expect(plain(format.duration(192, 'zh-TW'))).toBe('3 分 12 秒');
    expect(plain(format.duration(2_592_000, 'zh-CN'))).toBe('30 天');
    expect(plain(format.duration(0, 'en'))).toBe('0 s');
  });

  test('a duration under a second is shown in milliseconds', () => {
    expect(plain(format.took(84.4))).toBe('84 ms');
    expect(plain(format.took(420_000))).toBe('420.00 s');
  });

  test('a relative time is in the language of the reader', () => {
    expect(format.relative(new Date(at.getTime() - 180_000), at, 'en')).toBe('3 minutes ago');
    expect(format.relative(new Date(at.getTime() - 180_000), at, 'zh-TW')).toBe('3 分鐘前');
  });
});
