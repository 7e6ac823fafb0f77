import { Ids, paged, paging } from '../common/common.ts';
import { del, get, onClient, post, put } from '../endpoint.ts';
import { DefaultErrorPage, DefaultErrorPageInput, DefaultErrorPageUpdate } from './default-error-pages.ts';

/** At most one per code. */
export const defaultErrorPages = onClient('defaultErrorPages', {
  list:   get('setting/errorPages', { can: 'setting:read', query: paging(['code', 'createdAt', 'updatedAt'], 10), reply: paged(DefaultErrorPage) }),
  create: post('setting/errorPage', { can: 'setting:write', body: DefaultErrorPageInput, reply: DefaultErrorPage, fails: ['DUPLICATED'] }),
  update: put('setting/errorPage', { can: 'setting:write', body: DefaultErrorPageUpdate, reply: DefaultErrorPage, fails: ['DUPLICATED'] }),
  remove: del('setting/errorPages', { can: 'setting:write', body: Ids, reply: Ids }),
});
