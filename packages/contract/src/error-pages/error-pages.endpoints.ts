import * as z from 'zod';
import { Ids } from '../common/common.ts';
import { del, get, onSites, post, put } from '../endpoint.ts';
import { ErrorPage, ErrorPageInput, ErrorPageUpdate } from './error-pages.ts';

const listed = z.object({ data: z.array(ErrorPage) });

/** At most one per code. */
export const errorPages = onSites('errorPages', {
  list:   get('site/:siteId/setting/errorPages', { can: 'module:read', reply: listed }),
  create: post('site/:siteId/setting/errorPages', { can: 'module:write', body: z.object({ errorPages: z.array(ErrorPageInput).min(1).max(7) }), reply: listed, fails: ['DUPLICATED'] }),
  update: put('site/:siteId/setting/errorPages', { can: 'module:write', body: z.object({ errorPages: z.array(ErrorPageUpdate).min(1).max(7) }), reply: listed, fails: ['DUPLICATED'] }),
  remove: del('site/:siteId/setting/errorPages', { can: 'module:write', body: Ids, reply: Ids }),
});
