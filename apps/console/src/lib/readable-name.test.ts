import { expect, test } from 'vitest';
import { readableName } from './readable-name.ts';

test.each([
  ['xn--r8jz45g.jp', '例え.jp'],
  ['*.www.xn--bcher-kva.example', '*.www.bücher.example'],
  ['xn--fiqs8s.tw', '中国.tw'],
  ['xn--b1abfaaepdrnnbgefbadotcwatmq2g4l.example', 'почемужеонинеговорятпорусски.example'],
])('%s is read as %s', (name, readable) => {
  expect(readableName(name)).toBe(readable);
});

test.each(['www.example.com', 'xn--.example', 'xn--99999999999.example', 'xn--a-ecp.ru'])(
  '%s is shown as it is',
  (name) => expect(readableName(name)).toBeNull(),
);
