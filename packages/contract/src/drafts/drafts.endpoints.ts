import { onSites, post } from '../endpoint.ts';
import { Draft, DraftInput } from './drafts.ts';

/** Each drafted call asks for the permission of its own as well, and fails as it would. */
export const drafts = onSites('drafts', {
  run: post('site/:siteId/draft', { can: 'site:read', limit: 'write', body: DraftInput, reply: Draft, fails: ['BUSY', 'PERMISSION_DENIED'] }),
});
