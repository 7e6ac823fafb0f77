// The two tokens of a session. The access token is a JWT that lives 15 minutes. The refresh token names its session
// and carries our mark, so that an old one is told from an invented one: only a token that we once issued may end the
// session it belongs to. An API token carries a mark of its own kind, so that a guess costs no query.
import { createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import { Id } from '@edgeloom/contract/common/common.ts';
import { AccountKind } from '@edgeloom/contract/auth/auth.ts';
import type { Secrets } from '../../core/secrets.ts';

export const ACCESS_SECONDS = 15 * 60;

/** `actor`: the account behind a switched user; otherwise the account itself. */
export const Claims = z.object({
  sub: Id,
  kind: AccountKind,
  client: Id.nullable(),
  session: Id,
  actor: Id,
  iat: z.int(),
  exp: z.int(),
});
export type Claims = z.output<typeof Claims>;

export const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** Our mark on a text, of 128 bits; one for a purpose is none for another. */
export function marker({ sessionKey }: Pick<Secrets, 'sessionKey'>, purpose: string) {
  const key = Buffer.from(hkdfSync('sha256', sessionKey.privatePem, '', purpose, 32));
  const mark = (text: string) => createHmac('sha256', key).update(text).digest().subarray(0, 16).toString('base64url');
  return { mark, isMark: (text: string, given: string) => sameText(given, mark(text)) };
}

export function sameText(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.length === other.length && timingSafeEqual(one, other);
}

export function refreshTokens(secrets: Pick<Secrets, 'sessionKey'>) {
  const { mark, isMark } = marker(secrets, 'refresh token');

  return {
    issue(sessionId: string) {
      const body = `${sessionId}.${randomBytes(32).toString('base64url')}`;
      return `${body}.${mark(body)}`;
    },
    /** The session of a token that we issued, or null. */
    sessionOf(token: string): string | null {
      const cut = token.lastIndexOf('.');
      const body = token.slice(0, cut);
      if (!isMark(body, token.slice(cut + 1))) return null;
      const session = Id.safeParse(body.split('.')[0]);
      return session.success ? session.data : null;
    },
  };
}

const SWITCH_SECONDS = 60;

/** For the session behind a switched user: a mark over it and the time, so that nothing is stored to be stolen. */
export function switchCodes(secrets: Pick<Secrets, 'sessionKey'>) {
  const { mark, isMark } = marker(secrets, 'switch user');

  return {
    issue(sessionId: string) {
      const body = `${sessionId}.${Math.floor(Date.now() / 1000) + SWITCH_SECONDS}`;
      return `${body}.${mark(body)}`;
    },
    sessionOf(code: string): string | null {
      const [session = '', ends = '', given = ''] = code.split('.');
      const isGood = isMark(`${session}.${ends}`, given) && Number(ends) * 1000 > Date.now();
      return isGood ? session : null;
    },
  };
}

const API_TOKEN = 'cdn_';
const RANDOM_CHARACTERS = 43;

export function apiTokens(secrets: Pick<Secrets, 'sessionKey'>) {
  const { mark, isMark } = marker(secrets, 'API token');

  return {
    issue() {
      const body = `${API_TOKEN}${randomBytes(32).toString('base64url')}`;
      return `${body}${mark(body)}`;
    },
    looksLike: (token: string) => token.startsWith(API_TOKEN),
    /** Issued by us, once: whether it still is good, the database knows. */
    isOurs(token: string) {
      const cut = API_TOKEN.length + RANDOM_CHARACTERS;
      return isMark(token.slice(0, cut), token.slice(cut));
    },
  };
}
