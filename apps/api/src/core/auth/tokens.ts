// The two tokens of a session. The access token is a JWT valid for 15 minutes. The refresh token contains its session's
// id and our MAC, so that an old token differs from an invented one: only a token that we issued can end its session.
// API tokens have a MAC for their own purpose, so that guesses cost no query.
import { createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import { Id } from '@edgeloom/contract/common/common.ts';
import { AccountKind } from '@edgeloom/contract/auth/auth.ts';
import type { Secrets } from '../secrets.ts';

export const ACCESS_SECONDS = 15 * 60;

/** `actor`: the account that acts as another; otherwise the account itself. */
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

/** A 128-bit MAC of a text, different for each purpose. */
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

/**
 * Codes for the session of a switched user: a MAC of the session and the time, so that nothing is stored that could be
 * stolen.
 */
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
    /** Whether we issued it; only the database knows whether it is still valid. */
    isOurs(token: string) {
      const cut = API_TOKEN.length + RANDOM_CHARACTERS;
      return isMark(token.slice(0, cut), token.slice(cut));
    },
  };
}
