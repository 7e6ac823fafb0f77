import { get, onClient, put } from '../endpoint.ts';
import { PredefinedSetting } from './predefined-setting.ts';

export const predefinedSetting = onClient('predefinedSetting', {
  get:    get('setting/predefined', { can: 'setting:read', reply: PredefinedSetting }),
  update: put('setting/predefined', { can: 'setting:write', body: PredefinedSetting, reply: PredefinedSetting }),
});
