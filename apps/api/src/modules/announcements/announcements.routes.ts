import { announcements, announcementSetting } from '@edgeloom/contract/announcements/announcements.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './announcements.service.ts';

export const announcementSettingRoutes = routes(announcementSetting, {
  list:   (ctx, { query }) => service.list(ctx, query),
  create: (ctx, { body }) => service.create(ctx, body),
  update: (ctx, { body }) => service.update(ctx, body),
  remove: (ctx, { body }) => service.remove(ctx, body.ids),
});

export const announcementsRoutes = routes(announcements, {
  list: (ctx) => service.inForce(ctx),
});
