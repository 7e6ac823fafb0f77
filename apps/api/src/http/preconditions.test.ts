import { groups } from '@edgeloom/contract/all.ts';
import { mounted } from '@edgeloom/contract/endpoint.ts';
import { expect, test } from 'vitest';
import { hasETag } from './preconditions.ts';

test('If-Match is supported for every object with a modification time', () => {
  const offered = mounted(groups).filter(({ endpoint, method }) => method === 'PUT' && hasETag(endpoint));
  expect(offered.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['client/zone', 'client/product', 'client/node', 'client/site/:siteId/setting/cacheRules']),
  );
});
