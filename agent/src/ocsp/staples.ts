// Fetches OCSP responses for the served certificates that name a responder. A failing responder affects its own
// certificates only.
import type { CertDoc } from '@edgeloom/contract/edge/documents.ts';
import { reason, type Log } from '../log.ts';
import { ask, type Means } from './ask.ts';
import { validateResponse, RevokedError } from './validate-response.ts';
import { ocspRequestOf } from './request.ts';
import { stapleKey, type StapleFiles } from './staple-files.ts';

interface Target {
  responder: string;
  /** The documents of certificates with this chain. */
  documents: Set<string>;
  dueAt: number;
  failures: number;
  isUnderWay: boolean;
}

interface Deps extends Means {
  files: StapleFiles;
  /** The chain of a document, by the key of its staple. Null: none. Chains are not kept in memory. */
  chainOf: (docKey: string, key: string) => Promise<string | null>;
  /** The zone's origin policy is known. */
  isReady: () => boolean;
  /** Invalidates these keys in nginx. */
  notifyNginx: (keys: string[]) => Promise<void>;
  log: Log;
}

const TICK_MS = 1000;
const AT_ONCE = 64;
/** Slots reserved for responders that did not fail last time. */
const KEPT_FREE = 48;
const OF_ONE_RESPONDER = 8;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

export class Staples {
  readonly #parts: Deps;
  /** By the key of the staple. */
  readonly #targets = new Map<string, Target>();
  readonly #byDocument = new Map<string, string[]>();
  readonly #underWay = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  #isStopped = false;

  constructor(parts: Deps) {
    this.#parts = parts;
    this.#timer = setInterval(() => this.#tick(), TICK_MS).unref();
  }

  /** Updates a certificate's document. Null: it is gone. */
  async set(docKey: string, doc: CertDoc | null): Promise<void> {
    const chains = new Map(doc?.pairs.map(({ chainPem }) => [stapleKey(chainPem), chainPem]));
    const before = this.#byDocument.get(docKey) ?? [];
    const left = before.filter((key) => !chains.has(key));
    for (const [key, chainPem] of chains) if (!before.includes(key)) await this.#add(key, chainPem, docKey);
    const known = [...chains.keys()].filter((key) => this.#targets.has(key));
    if (known.length > 0) this.#byDocument.set(docKey, known);
    else this.#byDocument.delete(docKey);
    for (const key of left) await this.#leave(key, docKey);
  }

  /** Called after every document was set: removes staples of certificates that are gone. */
  async sweep(): Promise<void> {
    const unknown = (await this.#parts.files.keys()).filter((key) => !this.#targets.has(key));
    for (const key of unknown) await this.#parts.files.remove(key);
  }

  stop(): void {
    this.#isStopped = true;
    clearInterval(this.#timer);
  }

  async #add(key: string, chainPem: string, docKey: string): Promise<void> {
    const known = this.#targets.get(key);
    if (known !== undefined) {
      known.documents.add(docKey);
      return;
    }
    const question = this.#questionOf(key, chainPem);
    if (question === null) return;
    const target: Target = {
      responder: question.responder.host,
      documents: new Set([docKey]),
      dueAt: Infinity,
      failures: 0,
      isUnderWay: false,
    };
    this.#targets.set(key, target);
    const staple = await this.#parts.files.read(key);
    const until = (staple?.until ?? 0) * 1000;
    target.dueAt = until <= Date.now() ? Date.now() : askAgainAt(until);
  }

  async #leave(key: string, docKey: string): Promise<void> {
    const target = this.#targets.get(key);
    target?.documents.delete(docKey);
    if (target === undefined || target.documents.size > 0) return;
    this.#targets.delete(key);
    await this.#drop(key);
  }

  #questionOf(key: string, chainPem: string) {
    try {
      return ocspRequestOf(chainPem);
    } catch (error) {
      this.#parts.log.warn('the OCSP status of a certificate is not known', { key, error: reason(error) });
      return null;
    }
  }

  #tick(): void {
    if (!this.#parts.isReady()) return;
    const now = Date.now();
    let free = AT_ONCE;
    for (const count of this.#underWay.values()) free -= count;
    for (const [key, target] of this.#targets) {
      if (free <= 0) break;
      if (target.isUnderWay || target.dueAt > now) continue;
      if (target.failures > 0 && free <= KEPT_FREE) continue;
      if ((this.#underWay.get(target.responder) ?? 0) >= OF_ONE_RESPONDER) continue;
      free -= 1;
      void this.#renew(key, target);
    }
  }

  async #renew(key: string, target: Target): Promise<void> {
    const { responder } = target;
    target.isUnderWay = true;
    this.#underWay.set(responder, (this.#underWay.get(responder) ?? 0) + 1);
    try {
      const [docKey = ''] = target.documents;
      const chainPem = await this.#parts.chainOf(docKey, key);
      const question = chainPem === null ? null : ocspRequestOf(chainPem);
      if (question === null) throw new Error('its certificate is not here');
      const answer = await ask(question, this.#parts);
      const until = validateResponse(answer, question, new Date()).getTime();
      if (this.#isStopped || this.#targets.get(key) !== target) return;
      await this.#parts.files.write(key, {
        keyType: question.keyType,
        until: Math.floor(until / 1000),
        response: answer.toString('base64'),
      });
      await this.#parts.notifyNginx([key]);
      target.failures = 0;
      target.dueAt = askAgainAt(until);
    } catch (error) {
      target.failures += 1;
      target.dueAt = tryAgainAt(target.failures);
      this.#parts.log.warn('there is no new staple', { key, responder, error: reason(error) });
      // Other failures keep the last response, which carries its own expiry.
      if (error instanceof RevokedError) await this.#drop(key);
    } finally {
      target.isUnderWay = false;
      const count = (this.#underWay.get(responder) ?? 1) - 1;
      if (count > 0) this.#underWay.set(responder, count);
      else this.#underWay.delete(responder);
    }
  }

  async #drop(key: string): Promise<void> {
    try {
      await this.#parts.files.remove(key);
      await this.#parts.notifyNginx([key]);
    } catch (error) {
      this.#parts.log.warn('a staple was not taken away', { key, error: reason(error) });
    }
  }
}

/** At half of the remaining validity, at least daily, with jitter. */
function askAgainAt(until: number): number {
  const half = Math.min((until - Date.now()) / 2, DAY_MS) * (0.9 + Math.random() * 0.2);
  return Date.now() + Math.max(half, MINUTE_MS / 2);
}

/** After 1, 2, 4 … minutes, at most an hour. */
const tryAgainAt = (failures: number) =>
  Date.now() + Math.min(2 ** (failures - 1), 60) * MINUTE_MS * (0.9 + Math.random() * 0.2);
