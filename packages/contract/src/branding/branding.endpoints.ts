import { Ids, paged, paging } from '../common/common.ts';
import { del, get, onClient, onEvery, post, put } from '../endpoint.ts';
import { Branding, BrandingInput, BrandingUpdate, ShownBranding } from './branding.ts';

export const branding = onClient('branding', {
  list:   get('setting/logos', { can: 'branding:read', query: paging(['host', 'title', 'createdAt', 'updatedAt'], 10), reply: paged(Branding) }),
  create: post('setting/logo', { can: 'branding:write', accepts: 'multipart/form-data', body: BrandingInput, reply: Branding, fails: ['DUPLICATED'] }),
  update: put('setting/logo', { can: 'branding:write', accepts: 'multipart/form-data', body: BrandingUpdate, reply: Branding, fails: ['DUPLICATED'] }),
  remove: del('setting/logo', { can: 'branding:write', body: Ids, reply: Ids }),
});

/** For the requested host name. */
export const shownBranding = onEvery('shownBranding', {
  get: get('logo', { can: 'anyone', reply: ShownBranding }),
});
