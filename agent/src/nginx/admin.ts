// Client of the running nginx's admin socket, which Lua serves.
import { request } from 'node:http';
import { Id } from '@edgeloom/contract/common/common.ts';
import { FailingPattern, type PurgeOrder } from '@edgeloom/contract/edge/messages.ts';
import { isNetwork } from '@edgeloom/contract/ipset/network.ts';
import * as z from 'zod';

const Count = z.int().min(0);
/** Lua encodes an empty list as an object. */
const listOf = <Item extends z.ZodType>(item: Item) => z.union([z.array(item), z.object({}).transform(() => [])]);
const Status = z.object({
  generation: z.int(),
  pid: z.int(),
  seq: z.int(),
  connections: z.object({ active: Count, reading: Count, writing: Count, waiting: Count }).optional(),
  patterns: listOf(FailingPattern)
    .optional()
    .catch([])
    .describe('Patterns that nginx does not compile, of the last hour'),
  workers: listOf(z.object({ pid: z.int(), silent: z.number().min(0).describe('Seconds since it last wrote') }))
    .optional()
    .describe('Of the generation that answers; absent: of Lua that does not count them'),
  diskFull: z.boolean().optional().describe('The disk of the cache is full: responses pass unstored'),
  risk: z.object({ ranges: Count, fault: z.string().optional() }).optional().describe('The pack, as nginx reads it'),
  waf: z
    .object({ version: z.string(), fault: z.string().optional() })
    .optional()
    .describe("The rules of firewalls that nginx uses; fault: why they are the agent's own, not those of the pack"),
});
export type Status = z.output<typeof Status>;

/** A network, its seconds (0 removes it), the cause, and the site if it is blocked for this site only. */
export type Change = readonly [network: string, seconds: number, cause: string, siteID?: string];

const FoundBlock = z.object({
  network: z.string().refine(isNetwork),
  cause: z.string().regex(/^[a-zA-Z0-9]{1,32}$/),
  siteID: Id.optional(),
  rule: z.string().max(64).optional(),
  seconds: z.int().min(1).max(2_592_000),
});
const FetchedBlocks = z.object({
  mark: z.string().optional(),
  found: listOf(FoundBlock),
  sites: listOf(FoundBlock).optional().describe('Blocks by rules of sites, each for its site only'),
  dropped: Count,
});

const BotCandidate = z.object({
  bot: z.string().max(64),
  address: z.union([z.ipv4(), z.ipv6()]),
  suffixes: z.array(z.string()).describe('Domains of the names that its addresses have'),
});
export type BotCandidate = z.output<typeof BotCandidate>;
const FetchedBots = z.object({ mark: z.string().optional(), candidates: listOf(BotCandidate) });
export interface BotVerdict {
  bot: string;
  address: string;
  verified: boolean;
  seconds: number;
  /** In so many seconds a verified bot that still comes is a candidate again. */
  renewsIn: number;
}

/** Above this number of keys, invalidating everything is cheaper for Lua. */
const BUMP_ALL_ABOVE = 1000;
const TIMEOUT_MS = 10_000;

class StatusError extends Error {
  readonly status: number | undefined;

  constructor(path: string, status: number | undefined) {
    super(`nginx responded to ${path} with ${status}`);
    this.status = status;
  }
}

export class Admin {
  readonly #socket: string;

  constructor(socket: string) {
    this.#socket = socket;
  }

  async status(withinMs = TIMEOUT_MS): Promise<Status> {
    return Status.parse(await this.#call('GET', '/status', undefined, withinMs));
  }

  /** The generation of the workers that respond. */
  async generation(): Promise<number> {
    return (await this.status(1000)).generation;
  }

  /** When it resolves, no worker uses an older document. */
  async bump(keys: readonly string[] | 'all'): Promise<void> {
    const all = keys === 'all' || keys.length > BUMP_ALL_ABOVE;
    await this.#call('POST', '/bump', all ? { all: true } : { keys }, TIMEOUT_MS);
  }

  async purge(order: PurgeOrder, withinMs: number): Promise<number> {
    return z.object({ objects: z.int() }).parse(await this.#call('POST', '/purge', order, withinMs)).objects;
  }

  /** Origins that are down are skipped for `seconds`, unless reported again. */
  async health(down: readonly string[], up: readonly string[], seconds: number): Promise<void> {
    await this.#call('POST', '/health', { down, up, seconds }, TIMEOUT_MS);
  }

  /** For `seconds`, each response to a visitor closes its connection. False: Lua of an older release lacks the call. */
  async closeConnections(seconds: number, withinMs: number): Promise<boolean> {
    try {
      await this.#call('POST', '/closing', { seconds }, withinMs);
      return true;
    } catch (error) {
      if (error instanceof StatusError && error.status === 404) return false;
      throw error;
    }
  }

  /**
   * Blocks that nginx found since the last call. `room`: how many more fit. `lastFetch`: whether the blocks of the last
   * call are on disk; lost ones are returned again.
   */
  async fetchBlocks(room: number, lastFetch?: 'kept' | 'lost'): Promise<z.output<typeof FetchedBlocks>> {
    return FetchedBlocks.parse(await this.#call('POST', '/blocks/fetch', { room, had: lastFetch }, TIMEOUT_MS));
  }

  /** `begins`: clears the set first. `mark`: returned by later calls, to identify the set. */
  async changeBlocks(blocks: readonly Change[], more: { begins?: true; mark?: string } = {}): Promise<void> {
    await this.#call('POST', '/blocks', { blocks, ...more }, TIMEOUT_MS);
  }

  /** Visitors that name a known bot and have no verdict yet, up to `most`. */
  async fetchBots(most: number): Promise<z.output<typeof FetchedBots>> {
    return FetchedBots.parse(await this.#call('POST', '/bots/fetch', { most }, TIMEOUT_MS));
  }

  /** `mark`: returned by later calls, to identify the set of verdicts. */
  async changeBots(verdicts: readonly BotVerdict[], mark?: string): Promise<void> {
    await this.#call('POST', '/bots', { verdicts, mark }, TIMEOUT_MS);
  }

  /** Bots that DNS says nothing about: others of their networks are no candidates for a minute. */
  async holdBots(held: readonly Pick<BotVerdict, 'bot' | 'address'>[]): Promise<void> {
    // In a list of its own, because Lua of the release before would take a verdict without `verified` for an impostor.
    await this.#call('POST', '/bots', { verdicts: [], held }, TIMEOUT_MS);
  }

  /** Prepares nginx for a simulated request with this id. */
  async simulate(id: string, order: object): Promise<void> {
    const { ok } = z
      .object({ ok: z.boolean() })
      .parse(await this.#call('POST', '/simulate', { id, order }, TIMEOUT_MS));
    if (!ok) throw new Error('too many requests are being simulated');
  }

  /** The recorded steps. Can be read once. Empty when nginx itself rejected the request. */
  async simulated(id: string): Promise<unknown> {
    return z
      .object({ steps: z.array(z.unknown()).default([]) })
      .parse(await this.#call('POST', '/simulated', { id }, TIMEOUT_MS)).steps;
  }

  #call(method: string, path: string, body: unknown, withinMs: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const call = request(
        // A new connection each: after a reload a kept one would reach an old worker.
        { socketPath: this.#socket, method, path, agent: false, signal: AbortSignal.timeout(withinMs) },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString();
            try {
              if (response.statusCode !== 200) throw new StatusError(path, response.statusCode);
              resolve(JSON.parse(text));
            } catch (error) {
              reject(error);
            }
          });
        },
      );
      call.on('error', reject);
      call.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }
}
