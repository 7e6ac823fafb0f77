import { session } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { routes } from '../../http/bind.ts';
import type { Sessions } from '../../http/auth/sessions.ts';
import * as auth from './auth.service.ts';

export const authRoutes = (sessions: Sessions) =>
  routes(session, {
    login:   (ctx, { body }) => auth.login(ctx, sessions, body),
    code:    (ctx, { body }) => auth.code(ctx, sessions, body),
    refresh: (ctx, { body }) => auth.refresh(ctx, sessions, body),
    logout:  (ctx, { body }) => auth.logout(ctx, sessions, body),
    self:    (ctx) => auth.self(ctx, sessions),
  });
