// The calls of Telegram's Bot API that alerts need. The token is part of the URL, so URLs are not logged.
import * as z from 'zod';
import type { Env } from '../core/env.ts';
import { outboundFetch } from '../core/outbound-fetch.ts';

type TelegramSettings = Pick<Env, 'ORIGIN_ALLOW' | 'ORIGIN_DENY' | 'TELEGRAM_API_URL'>;

/** The Bot API refuses longer texts. */
const MAX_TEXT_LENGTH = 4096;
const TOKEN = /^\d{1,20}:[\w-]{20,100}$/;
const Answer = z.object({
  ok: z.boolean(),
  parameters: z.object({ retry_after: z.number().min(0).optional() }).optional(),
});

export class TelegramError extends Error {
  readonly status: number;
  /** Telegram sends it with status 429. */
  readonly retryAfterSeconds: number | null;
  constructor(status: number, retryAfterSeconds: number | null = null) {
    super(`Telegram responded with ${status}`);
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
/** Telegram responds to unknown tokens with these. */
export const isTokenError = (error: unknown): boolean =>
  error instanceof TelegramError && (error.status === 401 || error.status === 404);

async function call(settings: TelegramSettings, token: string, method: string, params: object): Promise<void> {
  // Anything else would change the path.
  if (!TOKEN.test(token)) throw new TelegramError(401);
  const url = `${settings.TELEGRAM_API_URL.replace(/\/+$/, '')}/bot${token}/${method}`;
  const headers = { 'content-type': 'application/json' };
  const response = await outboundFetch(settings)(url, { method: 'POST', headers, body: JSON.stringify(params) });
  const answer = Answer.safeParse(await response.json().catch(() => null)).data;
  if (response.ok && answer?.ok === true) return;
  throw new TelegramError(response.status, answer?.parameters?.retry_after ?? null);
}

/** Throws a TelegramError for an unknown token. */
export const checkToken = (settings: TelegramSettings, token: string): Promise<void> =>
  call(settings, token, 'getMe', {});

/** One message. Longer texts are split before (splitText). */
export const sendText = (settings: TelegramSettings, token: string, chatID: string, text: string): Promise<void> =>
  call(settings, token, 'sendMessage', { chat_id: chatID, text, link_preview_options: { is_disabled: true } });

/** Parts that Telegram accepts, cut between lines where possible and never within a character. */
export function splitText(text: string, maxLength = MAX_TEXT_LENGTH): string[] {
  const parts: string[] = [];
  let part = '';
  for (const line of text.split('\n').flatMap((whole) => cutLine(whole, maxLength))) {
    const longer = part === '' ? line : `${part}\n${line}`;
    if (longer.length <= maxLength) {
      part = longer;
      continue;
    }
    parts.push(part);
    part = line;
  }
  return [...parts, part].filter((some) => some.trim() !== '');
}

function cutLine(line: string, maxLength: number): string[] {
  const pieces = [''];
  for (const char of line) {
    const last = pieces.at(-1) ?? '';
    if (last.length + char.length > maxLength) pieces.push(char);
    else pieces[pieces.length - 1] = last + char;
  }
  return pieces;
}
