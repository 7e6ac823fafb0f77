import { predefinedSetting } from '@edgeloom/contract/predefined-setting/predefined-setting.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './predefined-setting.service.ts';

export const predefinedSettingRoutes = routes(predefinedSetting, {
  get:    (ctx) => service.get(ctx),
  update: (ctx, { body }) => service.update(ctx, body),
});
