import { expect, test } from 'vitest';
import { wafDoc } from './waf.ts';

const id = '00000000-0000-7000-8000-000000000001';
const docOf = (exceptions: object[], limitedExceptions: object[] = []) =>
  wafDoc({
    id,
    settings: {
      mode: 'block',
      paranoia: 1,
      disabledCategories: [],
      disabledRules: [],
      exceptions,
      limitedExceptions,
      bodyKiB: 64,
      largeBodies: 'start',
    },
  });

test('an exception with a host or an end is not among those that older nodes apply everywhere and forever', () => {
  const exception = { rule: 'sqli', path: '/my%20docs/', parameter: 'ID' };
  const scope = { rule: 'sqli', path: '/my docs/', parameter: 'id' };
  const limited = [
    { ...exception, host: 'www.example.com', until: null, note: 'text' },
    { ...exception, host: null, until: '2027-01-01T00:00:00.500Z', note: '' },
  ];
  const doc = docOf([exception], limited);
  // As an earlier release stored them.
  expect(docOf([exception, ...limited])).toEqual(doc);
  expect(doc).toMatchObject({
    exceptions: [scope],
    limitedExceptions: [
      { ...scope, host: 'www.example.com' },
      { ...scope, expires: Date.parse('2027-01-01T00:00:00Z') / 1000 },
    ],
  });
});

test('without such exceptions the document is that of earlier releases', () => {
  const plain = docOf([{ rule: 'sqli', path: null, parameter: null }]);
  expect(plain.exceptions).toEqual([{ rule: 'sqli' }]);
  expect(plain).not.toHaveProperty('limitedExceptions');
});
