import { cnames, dnsSetting } from '@edgeloom/contract/dns-setting/dns-setting.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as cname from './cnames.service.ts';
import * as service from './dns-setting.service.ts';

export const dnsSettingRoutes = routes(dnsSetting, {
  list:        (ctx, { query }) => service.list(ctx, query),
  create:      (ctx, { body }) => service.create(ctx, body),
  remove:      (ctx, { body }) => service.remove(ctx, body.ids),
  test:        (ctx, { body }) => service.test(ctx, body),
  compare:     (ctx, { body }) => service.compare(ctx, body.ids),
  unprocessed: (ctx, { query }) => service.unprocessed(ctx, query),
  recovery:    (ctx, { body }) => service.recovery(ctx, body),
  lines:       (ctx) => service.lines(ctx),
});

export const cnamesRoutes = routes(cnames, {
  list:   (ctx, { query }) => cname.list(ctx, query),
  meta:   (ctx, { query }) => cname.meta(ctx, query),
  create: (ctx, { body }) => cname.create(ctx, body),
  update: (ctx, { body }) => cname.update(ctx, body),
  remove: (ctx, { body }) => cname.remove(ctx, body.ids),
});
