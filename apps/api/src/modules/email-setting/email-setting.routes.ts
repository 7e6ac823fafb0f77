import { emailSetting } from '@edgeloom/contract/email-setting/email-setting.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './email-setting.service.ts';

export const emailSettingRoutes = routes(emailSetting, {
  get:    (ctx) => service.get(ctx),
  update: (ctx, { body }) => service.update(ctx, body),
  test:   (ctx, { body }) => service.test(ctx, body),
});
