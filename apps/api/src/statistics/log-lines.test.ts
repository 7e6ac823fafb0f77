import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { storable, textsOf } from './log-lines.ts';

// Regression: values were cut by UTF-16 units, so filters by a long URL with emoji found nothing, and one was halved.
test.each(['a', '文', '😀', 'a😀'])('a value of %s is cut by characters, as PostgreSQL counts them', (text) => {
  expect(storable(text.repeat(600), 512)).toBe([...text.repeat(600)].slice(0, 512).join(''));
});

test('characters that PostgreSQL refuses are replaced', () => {
  expect(storable('a\0\uD83Db', 10)).toBe('a\uFFFD\uFFFDb');
});

test('a line that is not UTF-8 keeps its bytes as escapes, and leaves the lines beside it as they are', async () => {
  const gbk = Buffer.from([0xc4, 0xe3]);
  const text = Buffer.concat([Buffer.from('{"uri":"/中"}\n\n{"uri":"/'), gbk, Buffer.from('"}\n{"uri":"/😀"}')]);
  const batch = { file: 'a', kind: 'requests' as const, from: 0, to: text.length, sentAt: 0 };
  const texts = await textsOf({ ...batch, lines: gzipSync(text).toString('base64') });
  expect(texts).toEqual(['{"uri":"/中"}', '{"uri":"/%C4%E3"}', '{"uri":"/😀"}']);
});
