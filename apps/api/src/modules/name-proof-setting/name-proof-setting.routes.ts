import { nameProofSetting } from '@edgeloom/contract/name-proof-setting/name-proof-setting.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './name-proof-setting.service.ts';

export const nameProofSettingRoutes = routes(nameProofSetting, {
  get:    (ctx) => service.get(ctx),
  update: (ctx, { body }) => service.update(ctx, body),
});
