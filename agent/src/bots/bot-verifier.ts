// Verifies the bots that nginx meets. nginx has a copy of the verdicts, and a file has them over a restart.
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import type { Log } from '../log.ts';
import { Loop } from '../loop.ts';
import type { Admin, BotCandidate, BotVerdict } from '../nginx/admin.ts';
import { writeWhole } from '../store/durable.ts';
import type { VerifyBot } from './verify-bot.ts';

interface Deps {
  file: string;
  nginx: Pick<Admin, 'fetchBots' | 'changeBots'>;
  verify: VerifyBot;
  log: Pick<Log, 'warn'>;
}

const INTERVAL_MS = 1000;
const MAX_RETRY_MS = 10_000;
const WRITE_INTERVAL_MS = 10_000;
/** Per second, with two queries each: a flood of false bots must not flood the name servers. */
const MAX_CANDIDATES = 10;
const VERIFIED_SECONDS = 86_400;
const IMPOSTOR_SECONDS = 3600;
/** nginx asks again this long before a verified bot's verdict ends (core/bots.lua). */
const RENEW_SECONDS = 3600;
/** The same number of verified bots and of impostors fits in nginx's dictionary. Further verdicts hold a minute. */
const MAX_VERDICTS = 10_000;
const OVERFLOW_SECONDS = 60;
const CHUNK = 1000;

const StoredVerdict = z.object({
  bot: z.string(),
  address: z.union([z.ipv4(), z.ipv6()]),
  verified: z.boolean(),
  until: z.number().describe('Epoch milliseconds'),
});
type StoredVerdict = z.output<typeof StoredVerdict>;

export class BotVerifier {
  readonly #deps: Deps;
  readonly #loop: Loop;
  #verdicts: Map<string, StoredVerdict> | null = null;
  /** Identifies the verdicts that nginx holds. */
  #mark = '';
  #isWritten = true;
  #writtenAt = 0;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#loop = new Loop({
      task: () => this.#tick(),
      retryMs: INTERVAL_MS,
      maxRetryMs: MAX_RETRY_MS,
      onError: (error) => deps.log.warn('bots cannot be verified', { error }),
    });
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
    await this.#write().catch((error: unknown) => this.#deps.log.warn('verdicts on bots cannot be written', { error }));
  }

  async #tick(): Promise<number> {
    this.#verdicts ??= await readVerdicts(this.#deps.file);
    const { mark, candidates } = await this.#deps.nginx.fetchBots(MAX_CANDIDATES);
    if (mark === undefined || mark !== this.#mark) await this.#sendAll(this.#verdicts);
    if (candidates.length > 0) await this.#judge(candidates, this.#verdicts);
    if (Date.now() - this.#writtenAt > WRITE_INTERVAL_MS) await this.#write();
    return INTERVAL_MS;
  }

  async #judge(candidates: readonly BotCandidate[], verdicts: Map<string, StoredVerdict>): Promise<void> {
    // nginx lost the other verdicts by a restart, and has them again by now.
    const unknown = candidates.filter((candidate) => isDue(verdicts.get(keyOf(candidate))));
    const found = await Promise.all(
      unknown.map(async (candidate) => ({ ...candidate, verified: await this.#deps.verify(candidate) })),
    );
    const sent = found.flatMap(({ bot, address, verified }) => {
      if (verified === null) return [];
      const seconds = keep(verdicts, { bot, address, verified });
      return [{ bot, address, verified, seconds }];
    });
    if (sent.length === 0) return;
    this.#isWritten = false;
    await this.#deps.nginx.changeBots(sent);
  }

  async #sendAll(verdicts: Map<string, StoredVerdict>): Promise<void> {
    const all = [...verdicts.values()].flatMap(currentVerdict);
    for (let at = 0; at < all.length; at += CHUNK) await this.#deps.nginx.changeBots(all.slice(at, at + CHUNK));
    // The mark comes last: an interrupted transfer starts over.
    const mark = randomUUID();
    await this.#deps.nginx.changeBots([], mark);
    this.#mark = mark;
  }

  async #write(): Promise<void> {
    if (this.#isWritten || this.#verdicts === null) return;
    this.#writtenAt = Date.now();
    await writeWhole(this.#deps.file, JSON.stringify([...this.#verdicts.values()]), 0o600);
    this.#isWritten = true;
  }
}

const keyOf = ({ bot, address }: Pick<BotVerdict, 'bot' | 'address'>) => `${bot}|${address}`;

const isDue = (verdict: StoredVerdict | undefined) =>
  verdict === undefined || verdict.until - Date.now() < (verdict.verified ? RENEW_SECONDS * 1000 : 0);

/** Returns for how long the verdict holds. */
function keep(verdicts: Map<string, StoredVerdict>, verdict: Omit<StoredVerdict, 'until'>): number {
  const now = Date.now();
  for (const [key, { until }] of verdicts) if (until <= now) verdicts.delete(key);
  const key = keyOf(verdict);
  verdicts.delete(key);
  const alike = [...verdicts.values()].filter(({ verified }) => verified === verdict.verified).length;
  if (alike >= MAX_VERDICTS) return OVERFLOW_SECONDS;
  const seconds = verdict.verified ? VERIFIED_SECONDS : IMPOSTOR_SECONDS;
  verdicts.set(key, { ...verdict, until: now + seconds * 1000 });
  return seconds;
}

/** Empty when it has expired. A clock that was set back does not make it hold longer. */
function currentVerdict({ bot, address, verified, until }: StoredVerdict): BotVerdict[] {
  const seconds = Math.min(Math.ceil((until - Date.now()) / 1000), VERIFIED_SECONDS);
  return seconds > 0 ? [{ bot, address, verified, seconds }] : [];
}

/** A missing or damaged file costs one lookup per bot. */
async function readVerdicts(file: string): Promise<Map<string, StoredVerdict>> {
  const text = await readFile(file, 'utf8').catch(() => '[]');
  const stored = z.array(StoredVerdict).safeParse(jsonOf(text)).data ?? [];
  return new Map(stored.map((verdict) => [keyOf(verdict), verdict]));
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
