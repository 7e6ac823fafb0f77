import { describe, expect, test } from 'vitest';
import { EMPTY_DIGEST, toggle } from './digest.ts';
import { supportedNeeds, DocKey, checkDoc, needsOf, parseDoc, type SiteDoc } from './documents.ts';

const id = '01930000-0000-7000-8000-000000000001';
const site: SiteDoc = { kind: 'site', id, status: 'normal', cacheVersion: 0, cacheRules: [], staleIfError: 0 };

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

describe('a document of a later version', () => {
  test.each([
    ['of a kind that came later', 'tomorrow', { kind: 'tomorrow' }],
    ['of a kind that came later, by name', `wall/${id}`, { kind: 'wall' }],
    ['of a module that came later', `module/${id}`, { kind: 'module', id, module: 'coupon' }],
  ])('%s is kept for a later version', (_, key, doc) => {
    expect(checkDoc(key, JSON.stringify(doc))).toEqual({ later: true });
  });
  test('that insists on what is not known here is closed, whatever else it says', () => {
    const needs = ['tokenAuth', 'bouncer'];
    expect(checkDoc(`site/${id}`, JSON.stringify({ ...site, needs, status: 'asleep' }))).toEqual({
      closed: ['bouncer'],
    });
    expect(checkDoc(`wall/${id}`, JSON.stringify({ needs }))).toEqual({ closed: ['bouncer'] });
  });
  test('that insists on what is known is as good as any', () => {
    expect(checkDoc(`site/${id}`, JSON.stringify({ ...site, needs: supportedNeeds }))).toMatchObject({ doc: { id } });
  });
  test.each([{}, 1, null, { needs: 'all' }, { module: '' }, { kind: 'module', id, module: 'cors' }])(
    'is not made of %j',
    (doc) => expect(() => checkDoc(`module/${id}`, JSON.stringify(doc))).toThrow(),
  );
  test('insists on whatever keeps visitors out, by names that this version knows', () => {
    const all = needsOf({ antiHeaders: [], antiReferers: [], modules: { tokenAuth: id, cors: id } });
    expect(all).toEqual({ needs: ['antiHeader', 'antiReferer', 'tokenAuth'] });
    expect(supportedNeeds).toEqual(expect.arrayContaining(all.needs ?? []));
    expect(needsOf({ modules: { cors: id } })).toEqual({});
  });
});

describe('a document key', () => {
  test.each(['zone', `site/${id}`, 'host/www.example.com', 'host/*.example.com', 'tomorrow', `wall/${id}`, 'wall/a.b'])(
    'may be %s',
    (key) => expect(DocKey.safeParse(key).success).toBe(true),
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
    'site',
    'manifest',
    'manifest/x',
    'ocsp/x',
    '.tmp/x',
    'wall/..',
    'wall/.x',
    'wall/x/y',
    'wall/x.',
    `wall/${'x'.repeat(300)}`,
    'Wall/x',
    'tomorrow\n',
  ])('may not be %s, for it becomes a file name', (key) => expect(DocKey.safeParse(key).success).toBe(false));
});

test('a digest tells sets apart, not orders, and putting in and taking out undo each other', () => {
  const [a, b] = ['a'.repeat(64), 'b'.repeat(64)];
  const both = toggle(toggle(EMPTY_DIGEST, 'x', a), 'y', b);
  expect(both).toBe(toggle(toggle(EMPTY_DIGEST, 'y', b), 'x', a));
  expect(both).not.toBe(toggle(toggle(EMPTY_DIGEST, 'x', b), 'y', a));
  expect(toggle(toggle(both, 'x', a), 'y', b)).toBe(EMPTY_DIGEST);
});
