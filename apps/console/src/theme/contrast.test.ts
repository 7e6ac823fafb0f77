import { expect, test, describe } from 'vitest';
import { tokens, type Token } from './tokens.ts';

const linear = (channel: number) => (channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4);
const luminance = (hex: string) => {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => linear(Number.parseInt(hex.slice(at, at + 2), 16) / 255));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const ratio = (one: string, other: string) => {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
};

const grounds: Token[] = ['canvas', 'surface', 'raised', 'sunken', 'hover', 'selected'];
const texts: Token[] = [
  'text',
  'text2',
  'text3',
  'accentText',
  'okText',
  'busyText',
  'warnText',
  'badText',
  'heldText',
  'offText',
];
const marks: Token[] = ['ok', 'busy', 'warn', 'bad', 'held', 'off', 'focus', 'control'];
const tones = ['ok', 'busy', 'warn', 'bad', 'held', 'off'] as const;

describe.each(['light', 'dark'] as const)('%s', (scheme) => {
  const colour: Record<Token, string> = tokens[scheme];

  test.each(texts.flatMap((text) => grounds.map((ground) => [text, ground] as const)))(
    '%s is readable on %s',
    (text, ground) => expect(ratio(colour[text], colour[ground])).toBeGreaterThanOrEqual(4.5),
  );
  test.each(marks.flatMap((mark) => grounds.map((ground) => [mark, ground] as const)))(
    '%s is seen on %s',
    (mark, ground) => expect(ratio(colour[mark], colour[ground])).toBeGreaterThanOrEqual(3),
  );
  test.each(tones)('the pill of %s is readable', (tone) =>
    expect(ratio(colour[`${tone}Text`], colour[`${tone}Soft`])).toBeGreaterThanOrEqual(4.5),
  );
  test('the main button is readable', () => {
    expect(ratio(colour.textOn, colour.accent)).toBeGreaterThanOrEqual(4.5);
    expect(ratio(colour.textOn, colour.accentHover)).toBeGreaterThanOrEqual(4.5);
    expect(ratio(colour.textOn, colour.bad)).toBeGreaterThanOrEqual(4.5);
  });
  test('the thread of each console is seen on the frame', () => {
    for (const kind of ['user', 'client', 'admin'] as const)
      expect(ratio(colour[kind], colour.canvas)).toBeGreaterThanOrEqual(2.9);
  });
});
