import { aclRules, acls } from '@edgeloom/contract/acl/acl.endpoints.ts';
import { luaAcls } from '@edgeloom/contract/lua-acl/lua-acl.endpoints.ts';
import { LuaAclSettings } from '@edgeloom/contract/lua-acl/lua-acl.ts';
import { routes } from '../../http/bind.ts';
import { modulesOf } from '../modules/modules.service.ts';
import * as rules from './acl-rules.service.ts';
import * as acl from './acl.service.ts';

export const aclsRoutes = routes(acls, {
  list:   (ctx, { params, query }) => acl.modules.list(ctx, params.siteId, query),
  create: (ctx, { params, body }) => acl.modules.create(ctx, params.siteId, body.modules),
  update: (ctx, { params, body }) => acl.modules.update(ctx, params.siteId, body.modules),
  remove: (ctx, { params, body }) => acl.modules.remove(ctx, params.siteId, body.ids),
  copy:   (ctx, { params, body }) => acl.copy(ctx, params.siteId, body),
  search: (ctx, { params, body }) => acl.search(ctx, params.siteId, body),
  exists: (ctx, { params }) => acl.exists(ctx, params.siteId),
});

export const aclRulesRoutes = routes(aclRules, {
  list:   (ctx, { params, query }) => rules.list(ctx, params, query),
  create: (ctx, { params, body }) => rules.create(ctx, params, body),
  update: (ctx, { params, body }) => rules.update(ctx, params, body),
  enable: (ctx, { params, body }) => rules.enable(ctx, params, body),
  order:  (ctx, { params, body }) => rules.order(ctx, params, body),
  remove: (ctx, { params, body }) => rules.remove(ctx, params, body.ids),
});

const scripts = modulesOf('luaAcl', LuaAclSettings);
export const luaAclsRoutes = routes(luaAcls, {
  list:   (ctx, { params, query }) => scripts.list(ctx, params.siteId, query),
  create: (ctx, { params, body }) => scripts.create(ctx, params.siteId, body.modules),
  update: (ctx, { params, body }) => scripts.update(ctx, params.siteId, body.modules),
  remove: (ctx, { params, body }) => scripts.remove(ctx, params.siteId, body.ids),
});
