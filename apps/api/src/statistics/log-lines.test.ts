import { expect, test } from 'vitest';
import { storable } from './log-lines.ts';

// Regression: values were cut by UTF-16 units, so filters by a long URL with emoji found nothing, and one was halved.
test.each(['a', '文', '😀', 'a😀'])('a value of %s is cut by characters, as PostgreSQL counts them', (text) => {
  expect(storable(text.repeat(600), 512)).toBe([...text.repeat(600)].slice(0, 512).join(''));
});

test('characters that PostgreSQL refuses are replaced', () => {
  expect(storable('a\0\uD83Db', 10)).toBe('a\uFFFD\uFFFDb');
});
