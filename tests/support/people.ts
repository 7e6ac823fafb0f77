// People who sign in by password, and the calls that sign them in.
import { hashPassword } from '@edgeloom/api/core/auth/passwords.ts';
import { session } from '@edgeloom/contract/auth/auth.endpoints.ts';
import type { Family } from '@edgeloom/contract/family.ts';
import type { TestApp } from './app.ts';
import { unique } from './build.ts';

export const password = 'correct horse battery';
const passwordHash = await hashPassword(password);

export interface PersonWish {
  kind?: Family;
  login2faType?: 0 | 1 | 2;
  clientId?: string;
}

export function people(app: TestApp) {
  const { db } = app.installation;
  const anyone = (kind: Family = 'client') => app.as({ kind, token: null }).call;
  return {
    anyone,
    as: (token: string, kind: Family = 'client') => app.as({ kind, token }).call,
    async person({ kind = 'client', login2faType = 2, clientId }: PersonWish = {}) {
      const tenant = kind === 'admin' ? null : (clientId ?? (await app.build.client()).clientId);
      const email = `${unique('someone')}@example.com`;
      const who = { kind, email, name: 'Someone', passwordHash, isRoot: true, clientId: tenant, language: 'en' };
      return db.account.create({ data: { ...who, login2faType } });
    },
    async signIn({ email, kind }: { email: string; kind: Family }, given = password) {
      const { onePassKey, vcode = '' } = await anyone(kind)(session.login, { body: { email, password: given } });
      return anyone(kind)(session.code, { body: { email, onePassKey, vcode } });
    },
  };
}
