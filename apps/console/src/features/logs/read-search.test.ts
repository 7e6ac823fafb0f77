import { expect, test } from 'vitest';
import { readSearch } from './read-search.ts';

const id = '0123456789abcdef0123456789abcdef';

test.each([
  ['  ', null],
  [id.toUpperCase(), { request: id }],
  ['404', { filters: [{ key: 'status', value: '404' }] }],
  ['5XX', { filters: [{ key: 'status', value: '5xx' }] }],
  ['192.0.2.7', { filters: [{ key: 'remoteIP', value: '192.0.2.7' }] }],
  ['2001:DB8::/32', { filters: [{ key: 'remoteIP', value: '2001:db8::/32' }] }],
  ['/api/%E7%B5%90?page=2#top', { filters: [{ key: 'uri', value: '/api/結' }] }],
  ['/100%', { filters: [{ key: 'uri', value: '/100%' }] }],
  ['favicon.ico', { filters: [{ key: 'uri', value: 'favicon.ico' }] }],
  ['https://Shop.glow.tw/', { filters: [{ key: 'domains', value: 'shop.glow.tw' }] }],
  [
    'shop.glow.tw/cart',
    {
      filters: [
        { key: 'domains', value: 'shop.glow.tw' },
        { key: 'uri', value: '/cart' },
      ],
    },
  ],
])('%j is read as the reader means it', (text, asked) => expect(readSearch(text)).toEqual(asked));
