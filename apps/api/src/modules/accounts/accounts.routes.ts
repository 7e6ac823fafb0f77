import { accounts, clients, clientZones, siteUsers } from '@edgeloom/contract/accounts/accounts.endpoints.ts';
import { routes } from '../../http/bind.ts';
import * as service from './accounts.service.ts';
import * as assignments from './assignments.service.ts';

export const accountsRoutes = routes(accounts, {
  list:   (ctx, { query }) => service.list(ctx, query),
  get:    (ctx, { params }) => service.get(ctx, params.id),
  subs:   (ctx, { params, query }) => service.subs(ctx, params.id, query),
  create: (ctx, { body }) => service.create(ctx, body),
  update: (ctx, { body }) => service.update(ctx, body),
  remove: (ctx, { body }) => service.remove(ctx, body.ids),
  resend: (ctx, { body }) => service.resend(ctx, body.id),
});

export const siteUsersRoutes = routes(siteUsers, {
  list:     (ctx, { params, query }) => assignments.usersOfSite(ctx, params.siteId, query),
  assign:   (ctx, { body }) => assignments.assignSites(ctx, body),
  unassign: (ctx, { body }) => assignments.unassignSites(ctx, body),
});

export const clientZonesRoutes = routes(clientZones, {
  get:    (ctx, { params }) => assignments.zonesOf(ctx, params.clientId),
  update: (ctx, { params, body }) => assignments.assignZones(ctx, params.clientId, body.zoneIDs),
});

export const clientsRoutes = routes(clients, {
  meta: (ctx, { query }) => service.clients(ctx, query),
});
