import { onSites, post } from '../endpoint.ts';
import { Draft, DraftInput } from './drafts.ts';

/** Each drafted call also needs its own permission, and fails as it would. */
export const drafts = onSites('drafts', {
  run: post('site/:siteId/draft', { can: 'site:read', limit: 'write', body: DraftInput, reply: Draft, fails: ['BUSY', 'PERMISSION_DENIED'] }),
});
