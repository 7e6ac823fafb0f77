import { nginxDefaults, zoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as defaults from './nginx-defaults.service.ts';
import * as service from './zone-settings.service.ts';

export const zoneSettingsRoutes = routes(zoneSettings, {
  get:      (ctx, { params }) => service.get(ctx, params.zoneId),
  set:      (ctx, { params, body: { reason, ...draft } }) => service.set(ctx, params.zoneId, reason, draft),
  http2:    (ctx, { params, body }) => service.setHttp2(ctx, params.zoneId, body),
  http3:    (ctx, { params, body }) => service.setHttp3(ctx, params.zoneId, body),
  soak:     (ctx, { params, body }) => service.setSoak(ctx, params.zoneId, body),
  resource: (ctx, { params }) => service.resource(ctx, params.zoneId),
  setResource: (ctx, { params, body }) => service.setResource(ctx, params.zoneId, body),
  firewall: (ctx, { params }) => service.firewall(ctx, params.zoneId),
  firewallLevels: (ctx, { params }) => service.firewallLevels(ctx, params.zoneId),
  setFirewall: (ctx, { params, body }) => service.setFirewall(ctx, params.zoneId, body),
  antiCC:   (ctx, { params }) => service.antiCC(ctx, params.zoneId),
  setAntiCC: (ctx, { params, body }) => service.setAntiCC(ctx, params.zoneId, body),
  nginx:    (ctx, { params, body }) => service.setNginx(ctx, params.zoneId, body),
  part:     (ctx, { params }) => service.part(ctx, params.zoneId, params.part),
  setPart:  (ctx, { params, body }) => service.setPart(ctx, params.zoneId, params.part, body),
  preview:  (ctx, { params, body }) => service.preview(ctx, params.zoneId, body),
  metaVersions: (ctx, { params, query }) => service.metaVersions(ctx, params.zoneId, query),
  versions: (ctx, { params, query }) => service.versions(ctx, params.zoneId, query),
  compare:  (ctx, { params, query }) => service.compare(ctx, params.zoneId, params.version, query.against),
  previewRollback: (ctx, { params }) => service.previewRollback(ctx, params.zoneId, params.version),
  rollback: (ctx, { params, body }) => service.rollback(ctx, params.zoneId, params.version, body.reason),
  switches: (ctx, { params }) => service.switches(ctx, params.zoneId),
  setSwitch: (ctx, { params, body }) => service.setSwitch(ctx, params.zoneId, body),
});

export const nginxDefaultsRoutes = routes(nginxDefaults, {
  get: (ctx, { params }) => defaults.get(ctx, params.part),
  set: (ctx, { params, body }) => defaults.set(ctx, params.part, body.content),
});
