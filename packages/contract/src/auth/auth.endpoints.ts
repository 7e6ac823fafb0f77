import { Ids, paged, paging } from '../common/common.ts';
import { del, get, onAdmin, onClient, onEvery, onRoot, onSites, patch, post, put } from '../endpoint.ts';
import {
  AuthenticatorKey, ChangePasswordInput, CodeInput, Factors, ForgotInput, LoginInput, LoginStarted, Mail, MailedTokenInput, MailSummary, MailToken,
  OidcButton, OidcFinishInput, OidcProvider, OidcProviderInput, OidcQuery, OidcStarted, OidcStartInput, OnePassKey, OwnSession, Passkey, PasskeyInput, PasskeyLoginInput,
  PasskeyOptions, PasskeyOptionsInput, PasskeysRemoval, PasswordInput, Presence, Proof, Proxied, ProxyInput, RecoveryCodes, RefreshInput, RegisterPasswordInput, Self, SelfUpdate, SetupCodeInput, SwitchUserInput, Tokens, TurnOffInput, Proven,
} from './auth.ts';
import { ApiToken, ApiTokenInput, NewApiToken } from './api-tokens.ts';

export const session = onEvery('auth', {
  login:          post('login', { can: 'anyone', body: LoginInput, reply: LoginStarted, fails: ['CREDENTIAL_REFUSED', 'ACCOUNT_NOT_ENABLED', 'RATE_LIMITED'] }),
  code:           post('code', { can: 'anyone', body: CodeInput, reply: Tokens, fails: ['CREDENTIAL_REFUSED', 'ACCOUNT_NOT_ENABLED', 'RATE_LIMITED'] }),
  refresh:        patch('', { can: 'anyone', limit: 'write', body: RefreshInput, reply: Tokens, fails: ['REFRESH_FAILED'] }),
  logout:         del('', { can: 'signedIn', body: RefreshInput, fails: ['REVOKE_FAILED'] }),
  self:           get('account/self', { can: 'signedIn', reply: Self }),
  updateSelf:     put('account/self', { can: 'signedIn', own: true, body: SelfUpdate, reply: Self }),
  forgot:         patch('password', { can: 'anyone', limit: 'mail', body: ForgotInput, fails: ['RATE_LIMITED'] }),
  changePassword: put('account/password', { can: 'signedIn', own: true, body: ChangePasswordInput, fails: ['CREDENTIAL_REFUSED', 'RATE_LIMITED'] }),
  verify:         post('verify', { can: 'signedIn', own: true, body: Presence, reply: Proven, fails: ['CREDENTIAL_REFUSED', 'RATE_LIMITED'] }),
});

export const mailedTokens = onRoot('mailedTokens', {
  check:    post('token/check', { can: 'anyone', body: MailedTokenInput, reply: MailToken, fails: ['INVALID_TOKEN'] }),
  register: post('register/password', { can: 'anyone', body: RegisterPasswordInput, fails: ['INVALID_TOKEN'] }),
});

export const ownSessions = onEvery('sessions', {
  list: get('sessions', { can: 'signedIn', own: true, query: paging(['lastUsedAt', 'createdAt']), reply: paged(OwnSession) }),
  end:  del('sessions', { can: 'signedIn', own: true, body: Ids, reply: Ids }),
});

/** API tokens of the calling account. */
export const apiTokens = onRoot('apiTokens', {
  list:   get('apiTokens', { can: 'apiToken:read', own: true, query: paging(['createdAt', 'name', 'lastUsedAt', 'expiresAt']), reply: paged(ApiToken) }),
  create: post('apiToken', { can: 'apiToken:write', own: true, body: ApiTokenInput, reply: NewApiToken, fails: ['PERMISSION_DENIED', 'LIMIT_REACHED'] }),
  remove: del('apiTokens', { can: 'apiToken:write', own: true, body: Ids, reply: Ids }),
});

/** Acting as another account (switch user). */
export const proxy = onEvery('proxy', {
  start:      post('proxy', { can: 'account:write', own: true, body: ProxyInput, reply: Proxied, fails: ['NOT_FOUND', 'PERMISSION_DENIED', 'ACCOUNT_NOT_ENABLED'] }),
  switchUser: post('switchUser', { can: 'anyone', body: SwitchUserInput, reply: Tokens, fails: ['INVALID_TOKEN', 'ACCOUNT_NOT_ENABLED'] }),
});

export const login2fa = onEvery('login2fa', {
  state:   get('login2fa', { can: 'signedIn', own: true, reply: Factors }),
  phase0:  post('login2fa/phase0', { can: 'signedIn', own: true, body: PasswordInput, reply: OnePassKey, fails: ['STILL_ENABLED', 'CREDENTIAL_REFUSED', 'RATE_LIMITED'] }),
  phase1:  post('login2fa/phase1', { can: 'signedIn', own: true, body: OnePassKey, reply: AuthenticatorKey, fails: ['CREDENTIAL_REFUSED'] }),
  phase2:  post('login2fa/phase2', { can: 'signedIn', own: true, body: SetupCodeInput, reply: RecoveryCodes, fails: ['CREDENTIAL_REFUSED'] }),
  turnOff: del('login2fa', { can: 'signedIn', own: true, body: TurnOffInput, fails: ['CREDENTIAL_REFUSED', 'RATE_LIMITED'] }),
});

export const passkeys = onEvery('passkeys', {
  list:     get('passkeys', { can: 'signedIn', own: true, query: paging(['createdAt', 'name']), reply: paged(Passkey) }),
  options:  post('passkey/options', { can: 'signedIn', own: true, body: Proof, reply: PasskeyOptions, fails: ['CREDENTIAL_REFUSED'] }),
  register: post('passkey', { can: 'signedIn', own: true, body: PasskeyInput, reply: Passkey, fails: ['CREDENTIAL_REFUSED', 'DUPLICATED'] }),
  remove:   del('passkeys', { can: 'signedIn', own: true, body: PasskeysRemoval, reply: Ids, fails: ['CREDENTIAL_REFUSED'] }),
  loginOptions: post('passkey/login/options', { can: 'anyone', body: PasskeyOptionsInput, reply: PasskeyOptions, fails: ['CREDENTIAL_REFUSED', 'RATE_LIMITED'] }),
  login:    post('passkey/login', { can: 'anyone', body: PasskeyLoginInput, reply: Tokens, fails: ['CREDENTIAL_REFUSED', 'ACCOUNT_NOT_ENABLED'] }),
});

export const oidc = onSites('oidc', {
  button: get('oidc', { can: 'anyone', query: OidcQuery, reply: OidcButton }),
  start:  post('oidc/start', { can: 'anyone', body: OidcStartInput, reply: OidcStarted, fails: ['NOT_FOUND', 'SUPPLIER_FAILED', 'PROXY_CONNECTION_FAILED', 'RATE_LIMITED'] }),
  finish: post('oidc/finish', { can: 'anyone', body: OidcFinishInput, reply: Tokens, fails: ['CREDENTIAL_REFUSED', 'ACCOUNT_NOT_ENABLED', 'SUPPLIER_FAILED', 'PROXY_CONNECTION_FAILED'] }),
});

export const oidcSetting = onClient('oidcSetting', {
  get:    get('setting/oidc', { can: 'setting:read', reply: OidcProvider.nullable() }),
  update: put('setting/oidc', { can: 'setting:write', own: true, body: OidcProviderInput, reply: OidcProvider, fails: ['DUPLICATED', 'SUPPLIER_FAILED', 'PROXY_CONNECTION_FAILED'] }),
  remove: del('setting/oidc', { can: 'setting:write', own: true }),
});

export const mailbox = onAdmin('mailbox', {
  list: get('mailbox', { can: 'signedIn', own: true, query: paging(['at'], 50), reply: paged(MailSummary), fails: ['NOT_FOUND', 'PERMISSION_DENIED'] }),
  get:  get('mailbox/:id', { can: 'signedIn', own: true, reply: Mail, fails: ['NOT_FOUND', 'PERMISSION_DENIED'] }),
});
