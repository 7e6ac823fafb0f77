// The calls of Telegram's Bot API that alerts need. The server is the installation's, so the outbound policy for
// addresses of tenants does not apply. telegraf removes tokens from the texts of its errors.
import { Telegram, TelegramError } from 'telegraf';
import type { Env } from '../core/env.ts';
import { connectionError, DeliveryError } from './delivery-error.ts';

type TelegramSettings = Pick<Env, 'TELEGRAM_API_URL'>;

const TIMEOUT_MS = 10_000;
/** The Bot API refuses longer texts. */
const MAX_TEXT_LENGTH = 4096;
const TOKEN = /^\d{1,20}:[\w-]{20,100}$/;

type Options = NonNullable<Parameters<Telegram['callApi']>[2]>;
/** Telegraf waits for minutes unless a signal ends the request. Its types know an older AbortSignal. */
const inTime = () => Object.assign<Options, object>({}, { signal: AbortSignal.timeout(TIMEOUT_MS) });

async function call(
  { TELEGRAM_API_URL }: TelegramSettings,
  token: string,
  send: (api: Telegram) => Promise<unknown>,
): Promise<void> {
  // Anything else would change the path.
  if (!TOKEN.test(token)) throw new DeliveryError('token', 'no token of a bot');
  const api = new Telegram(token, { apiRoot: TELEGRAM_API_URL.replace(/\/*$/, '/') });
  try {
    await send(api);
  } catch (error) {
    throw error instanceof TelegramError ? refusalOf(error) : connectionError(error);
  }
}

/** Telegram responds to unknown tokens with 401 or 404, and sends retry_after with 429. */
function refusalOf(error: TelegramError): DeliveryError {
  const code = [401, 404].includes(error.code) ? 'token' : [400, 403].includes(error.code) ? 'chat' : 'status';
  const retryAfterSeconds = error.parameters?.retry_after ?? null;
  return new DeliveryError(code, error.message, { retryAfterSeconds, cause: error });
}

/** Throws a DeliveryError, `token` for an unknown one. */
export const checkToken = (settings: TelegramSettings, token: string): Promise<void> =>
  call(settings, token, (api) => api.callApi('getMe', {}, inTime()));

/** One message. Longer texts are split before (splitText). Throws a DeliveryError. */
export const sendText = (settings: TelegramSettings, token: string, chatID: string, text: string): Promise<void> => {
  const message = { chat_id: chatID, text, link_preview_options: { is_disabled: true } };
  return call(settings, token, (api) => api.callApi('sendMessage', message, inTime()));
};

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
