import * as z from 'zod';
import { Ids, Meta, MetaQuery, paged, paging } from '../common/common.ts';
import { del, get, onClient, post, put } from '../endpoint.ts';
import {
  Cname,
  CnameInput,
  CnameUpdate,
  DnsLine,
  DnsSetting,
  DnsSettingInput,
  DnsSettingTest,
  DnsTested,
  RecoveryInput,
  UnprocessedName,
} from './dns-setting.ts';
import { Weighting } from './lines.ts';

export const dnsSetting = onClient('dnsSetting', {
  list:        get('setting/dns', { can: 'setting:read', query: paging(['createdAt', 'rootDomain', 'dnsType']), reply: paged(DnsSetting) }),
  create:      post('setting/dns', { can: 'setting:write', limit: 'probe', body: DnsSettingInput, reply: DnsSetting, fails: ['INVALID_DNS_SETTING'] }),
  remove:      del('setting/dns', { can: 'setting:write', body: Ids, reply: Ids }),
  test:        post('setting/dns/test', { can: 'setting:write', limit: 'probe', body: DnsSettingTest, reply: DnsTested, fails: ['DNS_FAILED'] }),
  // Compares the whole zone as soon as the account may be called.
  compare:     post('setting/dns/compare', { can: 'setting:write', body: Ids, reply: Ids }),
  unprocessed: get('setting/dns/unprocessed', { can: 'setting:read', query: paging(['wantedAt', 'dueAt', 'name']), reply: paged(UnprocessedName) }),
  recovery:    post('setting/dns/recovery', { can: 'setting:write', body: RecoveryInput, reply: z.object({ names: z.int().describe('How many are tried again') }) }),
  lines:       get('dns/lines', { can: 'group:read', reply: z.object({ data: z.array(DnsLine), weighting: Weighting.nullable().describe('Of the provider that does least; null: none has been looked at yet') }) }),
});

export const cnames = onClient('cnames', {
  list:   get('setting/dns/cnames', { can: 'setting:read', query: paging(['createdAt', 'name']), reply: paged(Cname) }),
  meta:   get('setting/dns/cname/meta', { can: 'setting:read', query: MetaQuery, reply: Meta }),
  create: post('setting/dns/cname', { can: 'setting:write', body: CnameInput, reply: Cname, fails: ['DUPLICATED', 'INVALID_DNS_SETTING'] }),
  update: put('setting/dns/cname', { can: 'setting:write', body: CnameUpdate, reply: Cname }),
  remove: del('setting/dns/cnames', { can: 'setting:write', body: Ids, reply: Ids }),
});
