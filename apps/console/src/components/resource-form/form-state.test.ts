import { expect, test } from 'vitest';
import { ownPath } from './error-paths.ts';
import { withValue } from './form-state.ts';

test('a value is set within lists and objects, and nothing else is touched', () => {
  const before = { name: 'a', upstreams: [{ port: 80 }, { port: 81 }] };
  const after = withValue(before, 'upstreams.1.port', 443);
  expect(after).toEqual({ name: 'a', upstreams: [{ port: 80 }, { port: 443 }] });
  expect(before.upstreams[1]).toEqual({ port: 81 });
});

test('an error of a wrapped body finds its field', () => {
  const fields = new Set(['value', 'cacheTime']);
  expect(ownPath('rules.0.value.2', fields)).toBe('value.2');
  expect(ownPath('cacheTime', fields)).toBe('cacheTime');
  expect(ownPath('siteId', fields)).toBeNull();
});
