import * as z from 'zod';
import { paged, paging, Text } from '../common/common.ts';
import { get, onClient, post, put } from '../endpoint.ts';
import { Reason } from '../zones/zones.ts';
import { ZoneAntiCC, ZoneAntiCCInput } from '../zone-anti-cc/zone-anti-cc.ts';
import { FirewallLevels, ZoneFirewall, ZoneFirewallInput } from '../zone-firewall/zone-firewall.ts';
import { VersionChoice, VersionNumber, VersionSearch } from '../versions/versions.ts';
import { AllSettings, ConfigDifference, ConfigDraft, ConfigPreview, Enable, Nginx, NginxDefault, Resource, ResourceInput, Snippet, SnippetPart, SwitchInput, ZoneSwitch, ZoneVersion } from './zone-settings.ts';

const Part = z.object({ content: Snippet });
const Reasoned = z.object({ reason: Text });
const fails = ['SELF_CHECK_FAILED'] as const;

export const zoneSettings = onClient('zoneSettings', {
  get:      get('zone/:zoneId/settings', { can: 'zone:read', reply: AllSettings }),
  set:      put('zone/:zoneId/settings', { can: 'zone:write', body: ConfigDraft.omit({ ports: true }).extend({ reason: Reason }), reply: AllSettings, fails }),
  http2:    put('zone/:zoneId/setting/http2', { can: 'zone:write', body: Enable, reply: AllSettings }),
  http3:    put('zone/:zoneId/setting/http3', { can: 'zone:write', body: Enable, reply: AllSettings }),
  soak:     put('zone/:zoneId/setting/soak', { can: 'zone:write', body: z.object({ soakSeconds: z.int().min(0).max(86_400), reason: Reason }), reply: AllSettings }),
  resource: get('zone/:zoneId/setting/resource', { can: 'zone:read', reply: Resource }),
  setResource: put('zone/:zoneId/setting/resource', { can: 'zone:write', body: ResourceInput.extend({ reason: Reason }), reply: AllSettings }),
  firewall: get('zone/:zoneId/setting/firewall', { can: 'zone:read', reply: ZoneFirewall }),
  firewallLevels: get('zone/:zoneId/setting/firewall/levels', { can: 'zone:read', reply: FirewallLevels }),
  setFirewall: put('zone/:zoneId/setting/firewall', { can: 'zone:write', body: ZoneFirewallInput.extend({ reason: Reason }), reply: AllSettings }),
  antiCC:   get('zone/:zoneId/setting/anticc', { can: 'zone:read', reply: ZoneAntiCC }),
  setAntiCC: put('zone/:zoneId/setting/anticc', { can: 'zone:write', body: ZoneAntiCCInput.extend({ reason: Reason }), reply: AllSettings }),
  nginx:    put('zone/:zoneId/setting/nginx', { can: 'zone:write', body: Nginx.partial().extend({ reason: Reason }), reply: AllSettings, fails }),
  part:     get('zone/:zoneId/setting/nginx/:part', { can: 'zone:read', params: { part: SnippetPart }, reply: Part }),
  setPart:  put('zone/:zoneId/setting/nginx/:part', { can: 'zone:write', params: { part: SnippetPart }, body: Part.extend({ reason: Reason }), reply: AllSettings, fails }),
  preview:  post('zone/:zoneId/configPreview', { can: 'zone:read', body: ConfigDraft, reply: ConfigPreview }),
  versions: get('zone/:zoneId/configVersions', { can: 'zone:read', query: paging(['version']), reply: paged(ZoneVersion) }),
  metaVersions: get('zone/:zoneId/metaConfigVersions', { can: 'zone:read', query: VersionSearch, reply: paged(VersionChoice) }),
  compare:  get('zone/:zoneId/configVersion/:version', { can: 'zone:read', params: { version: VersionNumber }, query: z.object({ against: VersionNumber.optional().describe('The version before, where it is left out') }), reply: ConfigDifference }),
  previewRollback: get('zone/:zoneId/configVersion/:version/preview', { can: 'zone:read', params: { version: VersionNumber }, reply: ConfigPreview }),
  rollback: post('zone/:zoneId/configVersion/:version/rollback', { can: 'zone:write', params: { version: VersionNumber }, body: Reasoned, reply: AllSettings, fails: ['SELF_CHECK_FAILED', 'SITE_HAS_L4_PORTS', 'INCONSISTENT_PORTS'] }),
  switches: get('zone/:zoneId/switches', { can: 'zone:read', reply: z.object({ data: z.array(ZoneSwitch) }) }),
  setSwitch: put('zone/:zoneId/switches', { can: 'zone:write', body: SwitchInput, reply: z.object({ data: z.array(ZoneSwitch) }) }),
});

export const nginxDefaults = onClient('nginxDefaults', {
  get: get('setting/nginx/:part', { can: 'setting:read', params: { part: SnippetPart }, reply: NginxDefault }),
  set: put('setting/nginx/:part', { can: 'setting:write', params: { part: SnippetPart }, body: Part, reply: NginxDefault, fails }),
});
