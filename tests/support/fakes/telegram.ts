// Telegram's Bot API with one bot and one chat.
import { startOrigin, type OriginRequest, type OriginResponse } from './origin.ts';

export const BOT_TOKEN = `123456:${'A'.repeat(35)}`;
export const CHAT_ID = '-1001234567890';
const MAX_TEXT_LENGTH = 4096;

export async function startTelegram() {
  const texts: string[] = [];
  /** Responses to the next messages. Null: the chat gets it. */
  const refusals: (OriginResponse | null)[] = [];

  function answer({ path, body }: OriginRequest): OriginResponse {
    const [, token, method] = /^\/bot([^/]+)\/(\w+)$/.exec(path) ?? [];
    if (token !== BOT_TOKEN) return error(401, 'Unauthorized');
    if (method === 'getMe') return json(200, { ok: true, result: { id: 123456, is_bot: true, username: 'edge_bot' } });
    if (method !== 'sendMessage') return error(404, 'Not Found');
    const refusal = refusals.shift();
    if (refusal) return refusal;
    const message: unknown = JSON.parse(body);
    const [chat, text] = ['chat_id', 'text'].map((name) => String(Reflect.get(Object(message), name)));
    if (chat !== CHAT_ID) return error(400, 'Bad Request: chat not found');
    if (text === undefined || text === '') return error(400, 'Bad Request: message text is empty');
    if (text.length > MAX_TEXT_LENGTH) return error(400, 'Bad Request: message is too long');
    texts.push(text);
    return json(200, { ok: true, result: { message_id: texts.length } });
  }
  const origin = await startOrigin({ any: answer });
  return {
    url: `http://127.0.0.1:${origin.port}`,
    texts,
    refuseNext: (status: number, retryAfterSeconds?: number) =>
      void refusals.push(error(status, 'refused', retryAfterSeconds)),
    /** Refuses the message after this many. */
    refuseAfter: (count: number, status: number) =>
      void refusals.push(...Array.from({ length: count }, () => null), error(status, 'refused')),
    stop: () => origin.stop(),
  };
}

const error = (status: number, description: string, retryAfterSeconds?: number): OriginResponse =>
  json(status, {
    ok: false,
    error_code: status,
    description,
    ...(retryAfterSeconds !== undefined && { parameters: { retry_after: retryAfterSeconds } }),
  });

const json = (status: number, body: object): OriginResponse => ({
  status,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
});
