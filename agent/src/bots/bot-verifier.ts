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
  nginx: Pick<Admin, 'fetchBots' | 'changeBots' | 'holdBots'>;
  verify: VerifyBot;
  log: Pick<Log, 'warn'>;
  /** Shorter in tests. */
  intervalMs?: number;
  writeIntervalMs?: number;
}

const INTERVAL_MS = 1000;
const MAX_RETRY_MS = 10_000;
const WRITE_INTERVAL_MS = 10_000;
/** Per second, with two queries each: a flood of false bots must not flood the name servers. */
const MAX_CANDIDATES = 10;
/** Lookups that wait for DNS at the same time. */
const MAX_LOOKUPS = 100;
const VERIFIED_SECONDS = 86_400;
const IMPOSTOR_SECONDS = 3600;
/** A verified bot that still comes is verified again this long before its verdict ends, so that it stays verified. */
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
  readonly #verifying: Loop;
  readonly #writing: Loop;
  #verdicts: Map<string, StoredVerdict> | null = null;
  /** Identifies the verdicts that nginx holds. */
  #mark = '';
  #isWritten = true;
  #lookups = 0;
  /** Answers of DNS since the start. */
  #answers = 0;
  #isStopped = false;

  constructor(deps: Deps) {
    this.#deps = deps;
    const { log, intervalMs = INTERVAL_MS, writeIntervalMs = WRITE_INTERVAL_MS } = deps;
    this.#verifying = new Loop({
      task: async () => {
        await this.#tick();
        return intervalMs;
      },
      retryMs: intervalMs,
      maxRetryMs: MAX_RETRY_MS,
      onError: (error) => log.warn('bots cannot be verified', { error }),
    });
    this.#writing = new Loop({
      task: async () => {
        await this.#write();
        return writeIntervalMs;
      },
      retryMs: writeIntervalMs,
      onError: (error) => this.#warnUnwritten(error),
    });
  }

  /** Does not wait for DNS: later verdicts are dropped. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([this.#verifying.stop(), this.#writing.stop()]);
    await this.#write().catch((error: unknown) => this.#warnUnwritten(error));
  }

  async #tick(): Promise<void> {
    this.#verdicts ??= await readVerdicts(this.#deps.file);
    const { mark, candidates } = await this.#deps.nginx.fetchBots(
      Math.min(MAX_CANDIDATES, MAX_LOOKUPS - this.#lookups),
    );
    if (mark === undefined || mark !== this.#mark) await this.#sendAll(this.#verdicts);
    await this.#answer(candidates, this.#verdicts);
  }

  /** Sends stored verdicts again: nginx lacked the room for them, or a call failed. Starts lookups for the others. */
  async #answer(candidates: readonly BotCandidate[], verdicts: Map<string, StoredVerdict>): Promise<void> {
    const stored: BotVerdict[] = [];
    for (const candidate of candidates) {
      const verdict = verdicts.get(keyOf(candidate));
      if (verdict === undefined || isDue(verdict)) void this.#lookUp(candidate, verdicts);
      else stored.push(...currentVerdict(verdict));
    }
    if (stored.length > 0) await this.#deps.nginx.changeBots(stored);
  }

  async #lookUp(candidate: BotCandidate, verdicts: Map<string, StoredVerdict>): Promise<void> {
    this.#lookups += 1;
    const answersBefore = this.#answers;
    const verified = await this.#deps.verify(candidate);
    this.#lookups -= 1;
    if (verified !== null) this.#answers += 1;
    if (this.#isStopped) return;
    // Without any answer it is this machine's name server that does not respond, not that of the network.
    if (verified === null && this.#answers === answersBefore) return;
    const { bot, address } = candidate;
    const { nginx } = this.#deps;
    const sent =
      verified === null
        ? nginx.holdBots([{ bot, address }])
        : nginx.changeBots([this.#store({ bot, address, verified }, verdicts)]);
    // The loop reports an nginx that is down. The candidate comes again after a minute.
    await sent.catch(() => undefined);
  }

  #store(verdict: Omit<StoredVerdict, 'until'>, verdicts: Map<string, StoredVerdict>): BotVerdict {
    this.#isWritten = false;
    return timed(verdict, storeVerdict(verdicts, verdict));
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
    // Set first, so that a verdict of the meantime is written by the next run.
    this.#isWritten = true;
    try {
      await writeWhole(this.#deps.file, JSON.stringify([...this.#verdicts.values()]), 0o600);
    } catch (error) {
      this.#isWritten = false;
      throw error;
    }
  }

  #warnUnwritten(error: unknown): void {
    this.#deps.log.warn('verdicts on bots cannot be written', { error });
  }
}

const keyOf = ({ bot, address }: Pick<BotVerdict, 'bot' | 'address'>) => `${bot}|${address}`;

const isDue = ({ until, verified }: StoredVerdict) => until - Date.now() < (verified ? RENEW_SECONDS * 1000 : 0);

/** Returns for how long the verdict holds. */
function storeVerdict(verdicts: Map<string, StoredVerdict>, verdict: Omit<StoredVerdict, 'until'>): number {
  const now = Date.now();
  for (const [key, { until }] of verdicts) if (until <= now) verdicts.delete(key);
  const key = keyOf(verdict);
  verdicts.delete(key);
  const sameKindCount = [...verdicts.values()].filter(({ verified }) => verified === verdict.verified).length;
  if (sameKindCount >= MAX_VERDICTS) return OVERFLOW_SECONDS;
  const seconds = verdict.verified ? VERIFIED_SECONDS : IMPOSTOR_SECONDS;
  verdicts.set(key, { ...verdict, until: now + seconds * 1000 });
  return seconds;
}

/** Empty when it has expired. A clock that was set back does not make it hold longer. */
function currentVerdict({ bot, address, verified, until }: StoredVerdict): BotVerdict[] {
  const seconds = Math.min(Math.ceil((until - Date.now()) / 1000), VERIFIED_SECONDS);
  return seconds > 0 ? [timed({ bot, address, verified }, seconds)] : [];
}

const timed = (verdict: Omit<StoredVerdict, 'until'>, seconds: number): BotVerdict => ({
  ...verdict,
  seconds,
  renewsIn: seconds - RENEW_SECONDS,
});

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
