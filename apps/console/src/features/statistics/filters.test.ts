import { expect, test } from 'vitest';
import { filtersOf } from './filters.ts';

test('filters are the values of the URL that the API accepts', () => {
  const search = new URLSearchParams('country=TW&country=JP&status=5xx&protocol=ipv6&protocol=ipx&url=&site=a');
  expect(filtersOf(search)).toEqual({ country: ['TW', 'JP'], status: ['5xx'], protocol: ['ipv6'] });
  expect(filtersOf(new URLSearchParams({ url: 'x'.repeat(513) }))).toEqual({});
});
