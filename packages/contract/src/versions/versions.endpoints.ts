import * as z from 'zod';
import { paged, paging } from '../common/common.ts';
import { get, onSites, post } from '../endpoint.ts';
import { Comparison, Rollback, RollbackInput, RollbackPreview, Version, VersionChoice, VersionNumber, VersionSearch } from './versions.ts';

const params = { version: VersionNumber };
const Against = z.object({ against: z.int().min(0).max(2_147_483_647).optional().describe('The version before, where it is left out'), page: z.int().min(1).max(10_000).default(1), pageSize: z.int().min(1).max(500).default(100) });

/** Kinds that the caller may not read are hidden, and those it may not write are not restored. */
export const versions = onSites('versions', {
  list:     get('site/:siteId/versions', { can: 'site:read', query: paging(['version']), reply: paged(Version) }),
  meta:     get('site/:siteId/metaVersions', { can: 'site:read', query: VersionSearch, reply: paged(VersionChoice) }),
  compare:  get('site/:siteId/version/:version', { can: 'site:read', params, query: Against, reply: Comparison }),
  preview:  post('site/:siteId/version/:version/rollback/preview', { can: 'site:write', params, reply: RollbackPreview }),
  rollback: post('site/:siteId/version/:version/rollback', { can: 'site:write', params, body: RollbackInput, reply: Rollback, fails: ['MULTIPLE'] }),
});
