import { get, onClient, put } from '../endpoint.ts';
import { NameProofSetting } from './name-proof-setting.ts';

export const nameProofSetting = onClient('nameProofSetting', {
  get:    get('setting/system/nameProof', { can: 'setting:read', reply: NameProofSetting }),
  update: put('setting/system/nameProof', { can: 'setting:write', body: NameProofSetting, reply: NameProofSetting }),
});
