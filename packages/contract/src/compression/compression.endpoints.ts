import { get, onSites, put } from '../endpoint.ts';
import { Compression, CompressionInput } from './compression.ts';

export const compression = onSites('compression', {
  get:    get('site/:siteId/setting/gzip', { can: 'cache:read', reply: Compression }),
  update: put('site/:siteId/setting/gzip', { can: 'cache:write', body: CompressionInput, reply: Compression }),
});
