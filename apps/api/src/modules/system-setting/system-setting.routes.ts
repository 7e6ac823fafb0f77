import { systemSetting } from '@edgeloom/contract/system-setting/system-setting.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './system-setting.service.ts';

export const systemSettingRoutes = routes(systemSetting, {
  all:                   (ctx) => service.getAll(ctx),
  outgoingURL:           (ctx) => service.getOutgoingURL(ctx),
  setOutgoingURL:        (ctx, { body }) => service.setOutgoingURL(ctx, body),
  accountVerify:         (ctx) => service.getAccountVerify(ctx),
  setAccountVerify:      (ctx, { body }) => service.setAccountVerify(ctx, body),
  restrictGroupCIDRs:    (ctx) => service.getRestrictGroupCIDRs(ctx),
  setRestrictGroupCIDRs: (ctx, { body }) => service.setRestrictGroupCIDRs(ctx, body),
});
