import { get, onClient, put } from '../endpoint.ts';
import {
  AccountVerify,
  OutgoingURL,
  OutgoingURLInput,
  RestrictGroupCIDRs,
  RestrictGroupCIDRsInput,
  SystemSettings,
} from './system-setting.ts';

// Links of mails and second factors protect the root account, so only that account changes them.
export const systemSetting = onClient('systemSetting', {
  all:                   get('setting/system', { can: 'setting:read', reply: SystemSettings }),
  outgoingURL:           get('setting/system/outgoingURL', { can: 'setting:read', reply: OutgoingURL }),
  setOutgoingURL:        put('setting/system/outgoingURL', { can: 'setting:write', own: true, body: OutgoingURLInput, reply: OutgoingURL }),
  accountVerify:         get('setting/system/accountVerify', { can: 'setting:read', reply: AccountVerify }),
  setAccountVerify:      put('setting/system/accountVerify', { can: 'setting:write', own: true, body: AccountVerify, reply: AccountVerify }),
  restrictGroupCIDRs:    get('setting/system/restrictGroupCIDRs', { can: 'setting:read', reply: RestrictGroupCIDRs }),
  setRestrictGroupCIDRs: put('setting/system/restrictGroupCIDRs', { can: 'setting:write', body: RestrictGroupCIDRsInput, reply: RestrictGroupCIDRs }),
});
