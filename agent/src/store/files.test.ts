import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeDocFile, docPath, encodeDocFile } from './files.ts';

test('the zone lies at the top, everything else under two hex digits of its name', () => {
  expect(docPath('zone')).toBe('zone');
  expect(docPath('host/www.example.com')).toBe('host/7c/www.example.com');
  expect(docPath('host/*.example.com')).toMatch(/^host\/[0-9a-f]{2}\/\*\.example\.com$/);
});

test('a document comes back as it was written', () => {
  fc.assert(
    fc.property(fc.nat(), fc.string({ unit: 'binary' }), (revision, body) => {
      // A lone surrogate has no UTF-8; JSON.stringify never leaves one in a body.
      const text = body.toWellFormed();
      expect(decodeDocFile(encodeDocFile(revision, text))).toEqual({ revision, body: text });
    }),
    { seed: 1 },
  );
});

test('a file that was cut short or has one bit turned is refused', () => {
  const file = encodeDocFile(7, '{"kind":"zone","name":"Zürich"}');
  for (let length = 0; length < file.length; length += 1) {
    expect(() => decodeDocFile(file.subarray(0, length))).toThrow();
  }
  const body = file.indexOf('\n') + 1;
  for (let bit = body * 8; bit < file.length * 8; bit += 1) {
    const damaged = Buffer.from(file);
    damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    expect(() => decodeDocFile(damaged)).toThrow();
  }
});
