import { describe, expect, test } from 'vitest';
import { cleanNames, judgeName } from './names.ts';

describe('pasted names', () => {
  test('addresses lose their scheme, port and path, and a name given twice stands once', () => {
    expect(cleanNames('https://www.glow.tw/img/a.png\nwww.glow.tw\n shop.glow.tw:8443, api.glow.tw.')).toEqual([
      'www.glow.tw',
      'shop.glow.tw',
      'api.glow.tw',
    ]);
  });

  test('empty lines are no names', () => expect(cleanNames('\n \n')).toEqual([]));

  test('each is judged as the API will judge it', () => {
    expect(judgeName('www.glow.tw')).toBe('good');
    expect(judgeName('*.glow.tw')).toBe('wildcard');
    expect(judgeName('WWW.glow.tw')).toBe('lower');
    expect(judgeName('glow')).toBe('name');
    expect(judgeName('a.*.tw')).toBe('name');
    expect(judgeName('203.0.113.24')).toBe('name');
    expect(judgeName(`${'a'.repeat(60)}.`.repeat(5) + 'tw')).toBe('long');
  });
});
