import { get, onClient, onSites, post, put } from '../endpoint.ts';
import { AlertFrequency, TelegramInput, TelegramSetting, TelegramTest } from './notify-setting.ts';

const fails = ['ILLEGAL_TELEGRAM_TOKEN'] as const;

/** For root accounts only. */
export const notifySetting = onSites('notifySetting', {
  getTelegram:    get('setting/tg', { can: 'notify:read', reply: TelegramSetting }),
  updateTelegram: put('setting/tg', { can: 'notify:write', limit: 'probe', body: TelegramInput, reply: TelegramSetting, fails }),
  /** Sends a message with the stored setting, also while it is off. */
  testTelegram:   post('setting/tg/test', { can: 'notify:write', limit: 'mail', reply: TelegramTest }),
});

/** For root accounts only. */
export const alertFrequency = onClient('alertFrequency', {
  get:    get('setting/frequency', { can: 'notify:read', reply: AlertFrequency }),
  update: put('setting/frequency', { can: 'notify:write', body: AlertFrequency, reply: AlertFrequency }),
});
