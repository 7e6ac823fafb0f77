// Accounts with passwords, and the sign-in calls.
import { hashPassword } from '@edgeloom/api/core/auth/passwords.ts';
import { session } from '@edgeloom/contract/auth/auth.endpoints.ts';
import type { Family } from '@edgeloom/contract/family.ts';
import type { TestApp } from '../services/app.ts';
import { unique } from './build.ts';

export const password = 'correct horse battery';
export const passwordHash = await hashPassword(password);

export interface AccountOptions {
  kind?: Family;
  login2faType?: 0 | 1 | 2;
  clientId?: string;
}

export function passwordAccounts(app: TestApp) {
  const { db } = app.installation;
  const anonymous = (kind: Family = 'client') => app.as({ kind, token: null }).call;
  return {
    anyone: anonymous,
    as: (token: string, kind: Family = 'client') => app.as({ kind, token }).call,
    async createAccount({ kind = 'client', login2faType = 2, clientId }: AccountOptions = {}) {
      const tenant = kind === 'admin' ? null : (clientId ?? (await app.build.client()).clientId);
      const email = `${unique('someone')}@example.com`;
      const who = { kind, email, name: 'Someone', passwordHash, isRoot: true, clientId: tenant, language: 'en' };
      return db.account.create({ data: { ...who, login2faType } });
    },
    async signIn({ email, kind }: { email: string; kind: Family }, typedPassword = password) {
      const { onePassKey, vcode = '' } = await anonymous(kind)(session.login, {
        body: { email, password: typedPassword },
      });
      return anonymous(kind)(session.code, { body: { email, onePassKey, vcode } });
    },
  };
}
