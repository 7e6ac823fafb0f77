import * as z from 'zod';
import { SiteAttention } from '../attention/attention.ts';
import { Id, Ids, Meta, MetaQuery, NameSearch, paged, paging, Tags, TagsInUse } from '../common/common.ts';
import { del, get, onClient, onSites, onUser, patch, post, put } from '../endpoint.ts';
import { ClientResources, LimitationsInput, LogSetting, LogSettingInput, ModulesInUse, OwnSiteRow, ResourceInfo, SettingsInUse, Site, SiteContents, SiteExpiryInput, SiteForceInput, SiteIDs, SiteInfo, SiteInput, SiteProductInput, SiteRow, SiteStatus, SiteStatusInput, SiteTagsInput, SiteUpdate } from './sites.ts';

const Page = paging(['createdAt', 'name', 'updatedAt', 'status']).extend({
  groupBy: z.enum(['product']).optional().describe('Sites of a product follow one another, by the name of the product'),
});
/** Products of the page's sites: the number of matching sites, and how many are on earlier pages. */
const groups = z.array(z.object({ id: Id, count: z.int(), before: z.int() })).optional();
/** Sites assigned, or not assigned, to a sub-account. */
const Assigned = { assignedTo: Id.optional(), notAssignedTo: Id.optional() };
const attention = z.array(SiteAttention).optional().describe('Sites of which any of these is true');
const tags = z.array(z.string().max(64)).max(20).optional();

export const clientSites = onClient('clientSites', {
  list:   get('sites', { can: 'site:read', query: Page.extend({ name: z.string().max(256).optional(), productID: Id.optional(), zoneID: Id.optional(), groupID: Id.optional(), userID: Id.optional(), status: z.array(SiteStatus).optional(), tags, attention, ...Assigned }), reply: paged(SiteRow).extend({ groups }) }),
  resources: get('resourceInfo', { can: 'signedIn', reply: ClientResources }),
  create: post('site', { can: 'site:write', body: SiteInput, reply: Site, fails: ['SITE_LIMIT', 'LICENSE_EXPIRED', 'PRODUCT_SITE_LIMIT', 'DUPLICATED'] }),
  update: patch('site', { can: 'site:write', body: SiteUpdate, reply: Site, fails: ['DUPLICATED'] }),
  status: put('site/status', { can: 'site:write', body: SiteStatusInput, reply: SiteIDs, fails: ['SITE_STATUS_REFUSED', 'SITE_TRAFFIC_LIMITED'] }),
  forceBackup: put('site/forceBackup', { can: 'site:write', body: SiteForceInput, reply: SiteIDs, fails: ['NO_BACKUP_GROUP'] }),
  setExpiry: put('site/expired', { can: 'site:write', body: SiteExpiryInput, reply: SiteIDs }),
  setLimitations: put('site/limitations', { can: 'site:write', body: LimitationsInput, reply: SiteIDs }),
  setTags: put('site/tags', { can: 'site:write', body: SiteTagsInput, reply: SiteIDs }),
  changeProduct: put('site/product/change', { can: 'site:write', body: SiteProductInput, reply: SiteIDs, fails: ['MULTIPLE', 'PRODUCT_SITE_LIMIT', 'DOMAIN_LIMIT', 'PORT_LIMIT', 'AUTO_SSL_LIMIT'] }),
  refreshProduct: post('site/product/refresh', { can: 'site:write', body: SiteIDs, reply: SiteIDs }),
  contents: post('site/contents', { can: 'site:read', body: SiteIDs, reply: z.object({ data: z.array(SiteContents) }) }),
  remove: del('site', { can: 'site:write', body: Ids, reply: Ids, fails: ['SITE_HAS_DOMAINS', 'SITE_HAS_L4_PORTS'] }),
});

export const ownSites = onUser('ownSites', {
  list:      get('sites', { can: 'site:read', query: Page.extend({ siteName: z.string().max(256).optional(), productID: Id.optional(), status: z.array(SiteStatus).optional(), tags, attention, ...Assigned }), reply: paged(OwnSiteRow).extend({ groups }) }),
  resources: get('resourceInfo', { can: 'signedIn', reply: ResourceInfo }),
});

export const sites = onSites('sites', {
  meta: get('metaSites', { can: 'site:read', query: MetaQuery, reply: Meta }),
  get:  get('site/:siteId', { can: 'site:read', reply: SiteInfo }),
  settingsInUse: get('site/:siteId/settings/exist', { can: 'site:read', reply: SettingsInUse }),
  modulesInUse:  get('site/:siteId/modules/exist', { can: 'site:read', reply: ModulesInUse }),
  tagsInUse: get('site/tags', { can: 'site:read', query: NameSearch, reply: TagsInUse }),
  tags:      get('site/:siteId/tags', { can: 'site:read', reply: z.object({ tags: Tags }) }),
  logSetting:    get('site/:siteId/setting/log', { can: 'site:read', reply: LogSetting }),
  setLogSetting: put('site/:siteId/setting/log', { can: 'site:write', body: LogSettingInput, reply: LogSetting }),
  setTags:   put('site/:siteId/tags', { can: 'site:write', body: z.object({ tags: Tags }), reply: z.object({ tags: Tags }) }),
});
