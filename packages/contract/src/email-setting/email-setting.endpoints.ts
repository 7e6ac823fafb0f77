import { get, onClient, post, put } from '../endpoint.ts';
import { EmailSetting, EmailSettingInput } from './email-setting.ts';

export const emailSetting = onClient('emailSetting', {
  get:    get('setting/email', { can: 'setting:read', reply: EmailSetting.nullable() }),
  update: put('setting/email', { can: 'setting:write', own: true, body: EmailSettingInput, reply: EmailSetting, fails: ['ILLEGAL_EMAIL_SETTINGS'] }),
  test:   post('setting/email/test', { can: 'setting:write', own: true, limit: 'mail', body: EmailSettingInput, fails: ['ILLEGAL_EMAIL_SETTINGS'] }),
});
