import { onSites, post } from '../endpoint.ts';
import { ModuleKind } from '../modules/modules.ts';
import { SiteIDs } from '../sites/sites.ts';
import { CopyModulesInput, CopySettingsInput } from './copies.ts';

export const copies = onSites('copies', {
  settings: post('site/:siteId/setting/copy', { can: 'cache:write', body: CopySettingsInput, reply: SiteIDs }),
  modules:  post('site/:siteId/module/:kind/copy', { can: 'module:write', params: { kind: ModuleKind }, body: CopyModulesInput, reply: SiteIDs, fails: ['LIMIT_REACHED', 'REDIRECT_LIMIT', 'MULTIPLE'] }),
});
