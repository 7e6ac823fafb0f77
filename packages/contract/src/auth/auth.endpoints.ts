import { del, get, onEvery, patch, post } from '../endpoint.ts';
import { CodeInput, LoginInput, LoginStarted, RefreshInput, Self, Tokens } from './auth.ts';

export const session = onEvery('auth', {
  login:   post('login', { can: 'anyone', body: LoginInput, reply: LoginStarted, fails: ['CREDENTIAL_REFUSED', 'ACCOUNT_NOT_ENABLED', 'RATE_LIMITED'] }),
  code:    post('code', { can: 'anyone', body: CodeInput, reply: Tokens, fails: ['CREDENTIAL_REFUSED', 'ACCOUNT_NOT_ENABLED', 'RATE_LIMITED'] }),
  refresh: patch('', { can: 'anyone', body: RefreshInput, reply: Tokens, fails: ['REFRESH_FAILED'] }),
  logout:  del('', { can: 'signedIn', body: RefreshInput, fails: ['REVOKE_FAILED'] }),
  self:    get('account/self', { can: 'signedIn', reply: Self }),
});
