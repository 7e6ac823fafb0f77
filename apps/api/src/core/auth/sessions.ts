// Starts, refreshes and ends sessions. Uses the unscoped database, since there is no account yet to scope by.
import type { Tokens } from '@edgeloom/contract/auth/auth.ts';
import type { Family } from '@edgeloom/contract/family.ts';
import { NOBODY, type Actor } from '../actor.ts';
import { fail, Failure } from '../fail.ts';
import type { Installation } from '../installation.ts';
import { assertEnabled } from './assert-enabled.ts';
import type { Identities } from './identities.ts';
import { TokenPairs, type Device, type Holder, type Place, type Sign } from './token-pairs.ts';
import { apiTokens, sha256, switchCodes } from './tokens.ts';

const LIFETIME_YEARS = 2;
/** A session that acts as another account ends after this time. */
const PROXIED_HOURS = 8;
/** Limits the sessions of a program that exchanges its token at each start. */
const SESSIONS_OF_A_TOKEN = 20;

/** Receives the account of a token, for the audit log. */
type OnActor = (actor: Actor) => void;

interface Person {
  id: string;
  kind: Family;
  clientId: string | null;
  email: string;
  language: string;
  loginNotify: boolean;
}

export class Sessions {
  readonly #installation: Installation;
  readonly #identities: Identities;
  readonly #pairs: TokenPairs;
  readonly #apiTokens: ReturnType<typeof apiTokens>;
  readonly #switchCodes: ReturnType<typeof switchCodes>;

  constructor(installation: Installation, identities: Identities, sign: Sign) {
    this.#installation = installation;
    this.#identities = identities;
    this.#pairs = new TokenPairs(installation, sign);
    this.#apiTokens = apiTokens(installation.secrets);
    this.#switchCodes = switchCodes(installation.secrets);
  }

  /** The caller has authenticated the account. */
  async start({ kind, address, device }: Device, account: Person): Promise<Tokens> {
    if (account.kind !== kind) fail('CREDENTIAL_REFUSED');
    const { db, pool, mail } = this.#installation;
    await assertEnabled(pool, account.id);
    const accountId = account.id;
    return db.$transaction(async (tx) => {
      if (account.loginNotify) {
        const before = await tx.session.count({ where: { accountId } });
        const alike = await tx.session.count({ where: { accountId, address, device } });
        const at = new Date().toISOString().slice(0, 16).replace('T', ' ');
        if (before > 0 && alike === 0) await mail.post(tx, account, 'newDevice', { device, address, at });
      }
      const { tokens } = await this.#pairs.open(tx, account, { address, device }, { endsAt: endOfLifetime() });
      return tokens;
    });
  }

  /** Takes a refresh token or an API token. `onActor` is called even if the refresh fails. */
  async refresh(device: Device, token: string | undefined, onActor: OnActor): Promise<Tokens> {
    if (token !== undefined && this.#apiTokens.looksLike(token)) return this.#exchange(device, token, onActor);
    const session = token === undefined ? null : this.#pairs.sessionOf(token);
    if (token === undefined || session === null) fail('REFRESH_FAILED');
    // Before anything is rotated: a refused token must stay valid for its own console.
    const actor = await ofConsole(device.kind, this.#identities.find(session, device.address));
    onActor(actor);
    const holder = holderOf(actor);
    const hash = sha256(token);
    return (
      (await this.#pairs.rotate(holder, session, hash, { servesParallel: true })) ??
      this.#pairs.repeatRotation(holder, session, hash)
    );
  }

  /** A session that was exchanged for an API token ends with the token at the latest. */
  async #exchange({ kind, address, device }: Device, token: string, onActor: OnActor): Promise<Tokens> {
    if (!this.#apiTokens.isOurs(token)) fail('REFRESH_FAILED');
    const { db } = this.#installation;
    const actor = await ofConsole(kind, this.#identities.findByToken(token, address));
    onActor(actor);
    const { id: apiTokenId, expiresAt } = await db.apiToken.findUniqueOrThrow({ where: { tokenHash: sha256(token) } });
    const endsAt = earlier(endOfLifetime(), expiresAt);
    return db.$transaction(async (tx) => {
      const { tokens } = await this.#pairs.open(tx, holderOf(actor), { address, device }, { endsAt, apiTokenId });
      const newest = { where: { apiTokenId }, orderBy: { createdAt: 'desc' as const }, take: SESSIONS_OF_A_TOKEN };
      const remaining = await tx.session.findMany({ ...newest, select: { id: true } });
      await tx.session.deleteMany({ where: { apiTokenId, id: { notIn: remaining.map(({ id }) => id) } } });
      return tokens;
    });
  }

  /** The caller has checked that the actor may act as the target. */
  actAs(actor: Actor, target: Holder, place: Place): Promise<Tokens & { code: string }> {
    return this.#installation.db.$transaction(async (tx) => {
      // Locks the session: it ends before this, so that nothing starts, or after it, together with the new session.
      const [own] = await tx.$queryRaw<{ ends_at: Date }[]>`
        SELECT ends_at FROM sessions WHERE id = ${actor.sessionId}::uuid AND revoked_at IS NULL FOR SHARE`;
      if (!own) fail('INVALID_TOKEN');
      const endsAt = earlier(new Date(Date.now() + PROXIED_HOURS * 3_600_000), own.ends_at);
      const terms = { endsAt, proxyId: actor.id, proxySessionId: actor.sessionId };
      const { session, tokens } = await this.#pairs.open(tx, { ...target, proxyId: actor.id }, place, terms);
      return { ...tokens, code: this.#switchCodes.issue(session) };
    });
  }

  /** The code represents the first refresh token of its session: using either makes the other invalid. */
  async switchUser({ kind, address }: Device, code: string): Promise<{ tokens: Tokens; actor: Actor }> {
    const id = this.#switchCodes.sessionOf(code) ?? fail('INVALID_TOKEN');
    const actor = await this.#identities.find(id, address);
    const first = await this.#installation.db.session.findFirst({ where: { id, previousHash: null } });
    if (actor.kind !== kind || !first) fail('INVALID_TOKEN');
    const rotated = await this.#pairs.rotate(holderOf(actor), id, first.tokenHash, { servesParallel: false });
    return { tokens: rotated ?? fail('INVALID_TOKEN'), actor };
  }

  /** Whether this refresh token belongs to the session that acts as the actor. */
  async isOfProxy(actor: Pick<Actor, 'sessionId'>, refreshToken: string): Promise<boolean> {
    const session = await this.#installation.db.session.findUnique({ where: { id: actor.sessionId } });
    return session?.proxySessionId != null && session.proxySessionId === this.#pairs.sessionOf(refreshToken);
  }

  async logout(actor: Actor, refreshToken: string | undefined): Promise<void> {
    const isAnother = refreshToken !== undefined && this.#pairs.sessionOf(refreshToken) !== actor.sessionId;
    if (isAnother || actor.sessionId === NOBODY) fail('REVOKE_FAILED');
    await this.#installation.db.session.updateMany({
      where: { id: actor.sessionId, revokedAt: null },
      data: { revokedAt: new Date() },
    });
  }
}

/** The account of a session or API token; it must belong to this console. */
async function ofConsole(kind: Family, found: Promise<Actor>): Promise<Actor> {
  const actor = await found.catch((error: unknown) => {
    if (error instanceof Failure && error.reason === 'INVALID_TOKEN') fail('REFRESH_FAILED');
    throw error;
  });
  return actor.kind === kind ? actor : fail('REFRESH_FAILED');
}

const endOfLifetime = () => {
  const end = new Date();
  end.setUTCFullYear(end.getUTCFullYear() + LIFETIME_YEARS);
  return end;
};
const earlier = (one: Date, other: Date | null) => (other !== null && other < one ? other : one);

const holderOf = ({ id, kind, clientId, proxy }: Actor): Holder => ({
  id,
  kind,
  clientId: clientId === NOBODY ? null : clientId,
  ...(proxy && { proxyId: proxy.id }),
});
