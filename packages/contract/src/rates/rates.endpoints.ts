import * as z from 'zod';
import { Ids } from '../common/common.ts';
import { del, get, onSites, post, put } from '../endpoint.ts';
import { Rate, RateInput, RateUpdate } from './rates.ts';

const listed = z.object({ data: z.array(Rate) });

/** In order. The first rule that matches the URL decides. */
export const rates = onSites('rates', {
  list:   get('site/:siteId/setting/rates', { can: 'cache:read', reply: listed }),
  create: post('site/:siteId/setting/rates', { can: 'cache:write', body: z.object({ rates: z.array(RateInput).min(1).max(50) }), reply: listed }),
  update: put('site/:siteId/setting/rates', { can: 'cache:write', body: z.object({ rates: z.array(RateUpdate).min(1).max(50) }), reply: listed }),
  remove: del('site/:siteId/setting/rates', { can: 'cache:write', body: Ids, reply: Ids }),
});
