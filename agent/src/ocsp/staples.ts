// Fetches OCSP responses for the served certificates that name a responder. A failing responder affects its own
// certificates only.
import type { CertDoc } from '@edgeloom/contract/edge/documents.ts';
import { reason, type Log } from '../log.ts';
import { queryOcsp, type OcspDeps } from './ask.ts';
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

interface Deps extends OcspDeps {
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
const MAX_CONCURRENT = 64;
/** Slots reserved for responders that did not fail last time. */
const RESERVED_SLOTS = 48;
const MAX_PER_RESPONDER = 8;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

export class Staples {
  readonly #deps: Deps;
  /** By the key of the staple. */
  readonly #targets = new Map<string, Target>();
  readonly #byDocument = new Map<string, string[]>();
  readonly #underWay = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  #isStopped = false;

  constructor(deps: Deps) {
    this.#deps = deps;
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
    const unknown = (await this.#deps.files.keys()).filter((key) => !this.#targets.has(key));
    for (const key of unknown) await this.#deps.files.remove(key);
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
    const request = this.#requestOf(key, chainPem);
    if (request === null) return;
    const target: Target = {
      responder: request.responder.host,
      documents: new Set([docKey]),
      dueAt: Infinity,
      failures: 0,
      isUnderWay: false,
    };
    this.#targets.set(key, target);
    const staple = await this.#deps.files.read(key);
    const until = (staple?.until ?? 0) * 1000;
    target.dueAt = until <= Date.now() ? Date.now() : renewalTime(until);
  }

  async #leave(key: string, docKey: string): Promise<void> {
    const target = this.#targets.get(key);
    target?.documents.delete(docKey);
    if (target === undefined || target.documents.size > 0) return;
    this.#targets.delete(key);
    await this.#drop(key);
  }

  #requestOf(key: string, chainPem: string) {
    try {
      return ocspRequestOf(chainPem);
    } catch (error) {
      this.#deps.log.warn('the OCSP status of a certificate is unknown', { key, error: reason(error) });
      return null;
    }
  }

  #tick(): void {
    if (!this.#deps.isReady()) return;
    const now = Date.now();
    let free = MAX_CONCURRENT;
    for (const count of this.#underWay.values()) free -= count;
    for (const [key, target] of this.#targets) {
      if (free <= 0) break;
      if (target.isUnderWay || target.dueAt > now) continue;
      if (target.failures > 0 && free <= RESERVED_SLOTS) continue;
      if ((this.#underWay.get(target.responder) ?? 0) >= MAX_PER_RESPONDER) continue;
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
      const chainPem = await this.#deps.chainOf(docKey, key);
      const request = chainPem === null ? null : ocspRequestOf(chainPem);
      if (request === null) throw new Error('the certificate is missing');
      const response = await queryOcsp(request, this.#deps);
      const until = validateResponse(response, request, new Date()).getTime();
      if (this.#isStopped || this.#targets.get(key) !== target) return;
      await this.#deps.files.write(key, {
        keyType: request.keyType,
        until: Math.floor(until / 1000),
        response: response.toString('base64'),
      });
      await this.#deps.notifyNginx([key]);
      target.failures = 0;
      target.dueAt = renewalTime(until);
    } catch (error) {
      target.failures += 1;
      target.dueAt = retryTime(target.failures);
      this.#deps.log.warn('a staple could not be renewed', { key, responder, error: reason(error) });
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
      await this.#deps.files.remove(key);
      await this.#deps.notifyNginx([key]);
    } catch (error) {
      this.#deps.log.warn('a staple could not be removed', { key, error: reason(error) });
    }
  }
}

/** At half of the remaining validity, at least daily, with jitter. */
function renewalTime(until: number): number {
  const half = Math.min((until - Date.now()) / 2, DAY_MS) * (0.9 + Math.random() * 0.2);
  return Date.now() + Math.max(half, MINUTE_MS / 2);
}

/** After 1, 2, 4 … minutes, at most an hour. */
const retryTime = (failures: number) =>
  Date.now() + Math.min(2 ** (failures - 1), 60) * MINUTE_MS * (0.9 + Math.random() * 0.2);
