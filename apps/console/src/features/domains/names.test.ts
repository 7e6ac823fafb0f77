import { describe, expect, test } from 'vitest';
import { cleanNames, countRepeated, judgeName } from './names.ts';

describe('pasted names', () => {
  test('addresses lose their scheme, port and path, and a name given twice stands once', () => {
    expect(cleanNames('https://www.glow.tw/img/a.png\nwww.glow.tw\n shop.glow.tw:8443, api.glow.tw.')).toEqual([
      'www.glow.tw',
      'shop.glow.tw',
      'api.glow.tw',
    ]);
  });

  test('capitals become small letters', () => expect(cleanNames('WWW.Glow.tw\nwww.glow.tw')).toEqual(['www.glow.tw']));

  test('how many stood there twice is known', () => expect(countRepeated('a.tw\nhttp://a.tw/\nb.tw a.tw')).toBe(2));

  test('names of other scripts are good, and become punycode', () => {
    expect(cleanNames('https://例え.jp:8443/商品 *.Bücher.example')).toEqual([
      'xn--r8jz45g.jp',
      '*.xn--bcher-kva.example',
    ]);
    expect(['例え.jp', '*.例え.jp'].map(judgeName)).toEqual(['good', 'wildcard']);
    const others = ['glow', 'a b.tw', 'a_b..tw', '203.0.113.24', 'a@b.tw', '0x7f.1', '例え'];
    expect(others.map(judgeName)).toEqual(others.map(() => 'name'));
  });

  test('empty lines are no names', () => expect(cleanNames('\n \n')).toEqual([]));

  test('each is judged as the API will judge it', () => {
    expect(judgeName('www.glow.tw')).toBe('good');
    expect(judgeName('*.glow.tw')).toBe('wildcard');
    expect(judgeName('WWW.glow.tw')).toBe('good');
    expect(judgeName('glow')).toBe('name');
    expect(judgeName('a.*.tw')).toBe('name');
    expect(judgeName('203.0.113.24')).toBe('name');
    expect(judgeName(`${'a'.repeat(60)}.`.repeat(5) + 'tw')).toBe('long');
  });
});
