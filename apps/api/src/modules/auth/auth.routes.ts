import { apiTokens, login2fa, mailbox, mailedTokens, oidc, oidcSetting, ownSessions, passkeys, proxy, session } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { routes } from '../../http/bind.ts';
import type { Sessions } from '../../core/auth/sessions.ts';
import type { SignIn } from '../../core/auth/sign-in.ts';
import * as tokens from './api-tokens.service.ts';
import * as auth from './auth.service.ts';
import * as factors from './login2fa.service.ts';
import * as mailed from './mailed-tokens.ts';
import * as mails from './mailbox.service.ts';
import * as own from './own-sessions.service.ts';
import * as keys from './passkeys.service.ts';
import * as passwords from './passwords.service.ts';
import * as presence from './presence.ts';
import * as proxies from './proxy.service.ts';
import * as provider from './oidc.service.ts';

export const authRoutes = (signIn: SignIn, sessions: Sessions) => [
  routes(session, {
    login:          (ctx, { body }) => auth.login(ctx, signIn, body),
    code:           (ctx, { body }) => auth.code(ctx, signIn, body),
    refresh:        (ctx, { body }) => auth.refresh(ctx, sessions, body),
    logout:         (ctx, { body }) => auth.logout(ctx, sessions, body),
    self:           (ctx) => auth.self(ctx),
    updateSelf:     (ctx, { body }) => auth.updateSelf(ctx, body),
    forgot:         (ctx, { body }) => passwords.forgot(ctx, body),
    changePassword: (ctx, { body }) => passwords.change(ctx, body),
    verify:         (ctx, { body }) => presence.verify(ctx, body),
  }),
  routes(mailedTokens, {
    check:    (ctx, { body }) => mailed.check(ctx, body.token),
    register: (ctx, { body }) => mailed.register(ctx, body),
  }),
  routes(ownSessions, {
    list: (ctx, { query }) => own.list(ctx, query),
    end:  (ctx, { body }) => own.end(ctx, body),
  }),
  routes(proxy, {
    start:      (ctx, { body }) => proxies.start(ctx, sessions, body),
    switchUser: (ctx, { body }) => auth.switchUser(ctx, sessions, body),
  }),
  routes(apiTokens, {
    list:   (ctx, { query }) => tokens.list(ctx, query),
    create: (ctx, { body }) => tokens.create(ctx, body),
    remove: (ctx, { body }) => tokens.remove(ctx, body.ids),
  }),
  routes(login2fa, {
    state:   (ctx) => factors.state(ctx),
    phase0:  (ctx, { body }) => factors.phase0(ctx, body),
    phase1:  (ctx, { body }) => factors.phase1(ctx, body),
    phase2:  (ctx, { body }) => factors.phase2(ctx, body),
    turnOff: (ctx, { body }) => factors.turnOff(ctx, body),
  }),
  routes(passkeys, {
    list:         (ctx, { query }) => keys.list(ctx, query),
    options:      (ctx, { body }) => keys.options(ctx, body),
    register:     (ctx, { body }) => keys.register(ctx, body),
    remove:       (ctx, { body }) => keys.remove(ctx, body),
    loginOptions: (ctx, { body }) => keys.loginOptions(ctx, signIn, body),
    login:        (ctx, { body }) => keys.login(ctx, { signIn, sessions }, body),
  }),
  routes(oidc, {
    button: (ctx, { query }) => provider.button(ctx, query),
    start:  (ctx, { body }) => provider.start(ctx, body),
    finish: (ctx, { body }) => provider.finish(ctx, sessions, body),
  }),
  routes(oidcSetting, {
    get:    (ctx) => provider.setting(ctx),
    update: (ctx, { body }) => provider.update(ctx, body),
    remove: (ctx) => provider.remove(ctx),
  }),
  routes(mailbox, {
    list: (ctx, { query }) => mails.list(ctx, query),
    get:  (ctx, { params }) => mails.get(ctx, params.id),
  }),
];
