// Signed-in accounts and typed API clients for them.
import { createHash, randomUUIDv7, sign } from 'node:crypto';
import type { Installation } from '@edgeloom/api/core/installation.ts';
import type { Account } from '@edgeloom/api/generated/client.ts';
import { connect, type Call } from '@edgeloom/contract/client.ts';

export interface SignedInAccount {
  id: string;
  kind: Account['kind'];
  clientId: string | null;
  email: string;
  sessionId: string;
  token: string;
}
export type ApiClients = ReturnType<typeof apiClients>;

export function apiClients(installation: Installation, { url, adminUrl }: { url: string; adminUrl: string }) {
  return {
    as: (who: Pick<SignedInAccount, 'kind'> & { token: string | null }): { call: Call } => ({
      call: connect({
        base: `${who.kind === 'admin' ? adminUrl : url}/api/v1`,
        family: who.kind,
        token: () => who.token,
      }),
    }),
    /** Creates a session in the database, which saves the second that password hashing takes. */
    async signIn({ id, kind, clientId, email }: Account): Promise<SignedInAccount> {
      const sessionId = randomUUIDv7();
      const tokenHash = createHash('sha256').update(sessionId).digest('hex');
      const endsAt = new Date(Date.now() + 3_600_000);
      await installation.db.session.create({
        data: { id: sessionId, accountId: id, tokenHash, address: '127.0.0.1', device: 'test', endsAt },
      });
      const token = accessToken(installation, { sub: id, kind, client: clientId, session: sessionId, actor: id });
      return { id, kind, clientId, email, sessionId, token };
    },
  };
}

export function accessToken(
  { secrets }: Pick<Installation, 'secrets'>,
  claims: Record<string, unknown>,
  { alg = 'EdDSA', lifetimeSeconds = 900 } = {},
): string {
  const iat = Math.floor(Date.now() / 1000);
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${part({ alg, typ: 'JWT' })}.${part({ ...claims, iat, exp: iat + lifetimeSeconds })}`;
  return `${text}.${sign(null, Buffer.from(text), secrets.sessionKey.privatePem).toString('base64url')}`;
}
