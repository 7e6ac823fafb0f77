import { alertFrequency, notifySetting } from '@edgeloom/contract/notify-setting/notify-setting.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as frequency from './alert-frequency.service.ts';
import * as telegram from './telegram-setting.service.ts';

export const notifySettingRoutes = routes(notifySetting, {
  getTelegram:    (ctx) => telegram.get(ctx),
  updateTelegram: (ctx, { body }) => telegram.update(ctx, body),
  testTelegram:   (ctx) => telegram.test(ctx),
});

export const alertFrequencyRoutes = routes(alertFrequency, {
  get:    (ctx) => frequency.get(ctx),
  update: (ctx, { body }) => frequency.update(ctx, body),
});
