import { describe, expect, test } from 'vitest';
import { EMPTY_DIGEST, toggle } from './digest.ts';
import { DocKey, parseDoc, type SiteDoc } from './documents.ts';

const id = '01930000-0000-7000-8000-000000000001';
const site: SiteDoc = { kind: 'site', id, status: 'normal', cacheVersion: 0, cacheRules: [], staleIfErrorSeconds: 0 };

describe('a document', () => {
  test('is read by its key, and keys it does not know are left alone', () => {
    expect(parseDoc(`site/${id}`, JSON.stringify({ ...site, futureField: 1 }))).toMatchObject({ status: 'normal' });
  });
  test('is refused when it is cut short, of the wrong shape, or of another key', () => {
    const body = JSON.stringify(site);
    expect(() => parseDoc(`site/${id}`, body.slice(0, -5))).toThrow();
    expect(() => parseDoc(`site/${id}`, JSON.stringify({ ...site, status: 'gone' }))).toThrow();
    expect(() => parseDoc(`site/${id.replace('1930', '1931')}`, body)).toThrow('says it is');
    expect(() => parseDoc(`node/${id}`, body)).toThrow();
  });
});

describe('a document key', () => {
  test.each(['zone', `site/${id}`, 'host/www.example.com', 'host/*.example.com'])('may be %s', (key) =>
    expect(DocKey.safeParse(key).success).toBe(true),
  );
  test.each([
    '../etc/passwd',
    'host/../x',
    'host/a/b.com',
    'host/.hidden',
    'host/a',
    'site/1',
    'zone/x',
    'host/a..com',
    'host/A.com',
    'host/*',
  ])('may not be %s, for it becomes a file name', (key) => expect(DocKey.safeParse(key).success).toBe(false));
});

test('a digest tells sets apart, not orders, and putting in and taking out undo each other', () => {
  const [a, b] = ['a'.repeat(64), 'b'.repeat(64)];
  const both = toggle(toggle(EMPTY_DIGEST, 'x', a), 'y', b);
  expect(both).toBe(toggle(toggle(EMPTY_DIGEST, 'y', b), 'x', a));
  expect(both).not.toBe(toggle(toggle(EMPTY_DIGEST, 'x', b), 'y', a));
  expect(toggle(toggle(both, 'x', a), 'y', b)).toBe(EMPTY_DIGEST);
});
