// Looks after the origins of every domain that asks for it, tells nginx which of them to leave alone and the control plane
// what it finds. What it knows is only ever the last looks: it begins anew with each start, with every origin taken for well.
import type { HostDoc } from '@edgeloom/contract/edge/documents.ts';
import type { OriginReport } from '@edgeloom/contract/edge/messages.ts';
import type { Log } from '../log.ts';
import { check, type Finding, type Look, type Means } from './check.ts';

type Origin = HostDoc['origin'];
type Health = NonNullable<Origin['health']>;

interface Target {
  look: Look;
  health: Health;
  /** Every domain's row of this origin. */
  upstreamIDs: Set<string>;
  dueAt: number;
  isUnderWay: boolean;
  isUp: boolean;
  /** Looks in a row that say otherwise. */
  against: number;
  last: Finding | null;
}

interface Parts extends Means {
  /** It is known where origins may lie. */
  isReady: () => boolean;
  /** nginx is told: these are down, those are back. */
  tell: (down: string[], up: string[], seconds: number) => Promise<void>;
  report: (report: OriginReport) => void;
  log: Log;
}

const TICK_MS = 200;
const AT_ONCE = 64;
/** nginx is told again this often, and forgets after so long: an agent that is gone takes nothing out for ever. */
const TELL_EVERY_MS = 10_000;
const FORGOTTEN_AFTER_SECONDS = 60;
const REPORT_EVERY_MS = 60_000;
const REPORTED_AT_ONCE = 1000;

export class HealthChecks {
  readonly #parts: Parts;
  /** By what is asked. */
  readonly #targets = new Map<string, Target>();
  /** Which of them each document asks for, with the row each stands for. */
  readonly #byDocument = new Map<string, { mark: string; upstreamID: string }[]>();
  readonly #timer: NodeJS.Timeout;
  readonly #stopping = new AbortController();
  #underWay = 0;
  #toldAt = 0;
  #reportedAt = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#timer = setInterval(() => this.#tick(), TICK_MS).unref();
  }

  /** What a domain's document says now; null: it is gone, or asks for nothing. */
  set(key: string, doc: HostDoc | null): void {
    for (const { mark, upstreamID } of this.#byDocument.get(key) ?? []) {
      const target = this.#targets.get(mark);
      target?.upstreamIDs.delete(upstreamID);
      if (target?.upstreamIDs.size === 0) this.#targets.delete(mark);
    }
    this.#byDocument.delete(key);
    const health = doc?.origin.health;
    if (!doc || !health) return;
    this.#byDocument.set(
      key,
      doc.origin.upstreams.map((upstream) => {
        const look = lookOf(doc.origin, health, upstream);
        const mark = JSON.stringify([look, health]);
        const target = this.#targets.get(mark) ?? begin(look, health);
        target.upstreamIDs.add(upstream.id);
        this.#targets.set(mark, target);
        return { mark, upstreamID: upstream.id };
      }),
    );
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#stopping.abort();
  }

  #tick(): void {
    // A look that could not be made says nothing of an origin.
    if (!this.#parts.isReady()) return;
    const now = Date.now();
    for (const target of this.#targets.values()) {
      if (this.#underWay >= AT_ONCE) break;
      if (target.isUnderWay || target.dueAt > now) continue;
      // Apart, so that the nodes of a zone do not come to an origin in step.
      target.dueAt = now + target.health.intervalSeconds * 1000 * (0.9 + Math.random() * 0.2);
      void this.#look(target);
    }
    if (now - this.#toldAt >= TELL_EVERY_MS) this.#tell([]);
    if (now - this.#reportedAt >= REPORT_EVERY_MS) {
      this.#reportedAt = now;
      this.#report([...this.#targets.values()]);
    }
  }

  async #look(target: Target): Promise<void> {
    target.isUnderWay = true;
    this.#underWay += 1;
    const finding = await check(target.look, this.#parts);
    target.isUnderWay = false;
    this.#underWay -= 1;
    if (this.#stopping.signal.aborted || target.upstreamIDs.size === 0) return;
    const isFirst = target.last === null;
    target.last = finding;
    target.against = target.isUp === (finding.reason === null) ? 0 : target.against + 1;
    const isTurned = target.against >= (target.isUp ? target.health.fails : target.health.passes);
    if (isTurned) {
      target.isUp = !target.isUp;
      target.against = 0;
      const { address, port } = target.look;
      this.#parts.log.info(target.isUp ? 'an origin is back' : 'an origin is down', {
        address,
        port,
        reason: finding.reason ?? '',
      });
      this.#tell(target.isUp ? [...target.upstreamIDs] : []);
    }
    if (isTurned || isFirst) this.#report([target]);
  }

  #tell(up: string[]): void {
    this.#toldAt = Date.now();
    const down = [...this.#targets.values()].flatMap(({ isUp, upstreamIDs }) => (isUp ? [] : [...upstreamIDs]));
    if (down.length + up.length === 0) return;
    // Told again soon in any case.
    this.#parts
      .tell(down, up, FORGOTTEN_AFTER_SECONDS)
      .catch((error: unknown) => this.#parts.log.warn('nginx was not told of origins', { error }));
  }

  #report(targets: Target[]): void {
    const origins = targets.flatMap(({ isUp, last, upstreamIDs }) =>
      last === null
        ? []
        : Array.from(upstreamIDs, (upstreamID) => ({
            upstreamID,
            isUp,
            reason: isUp ? null : last.reason,
            tookMs: last.tookMs,
          })),
    );
    for (let from = 0; from < origins.length; from += REPORTED_AT_ONCE)
      this.#parts.report({ origins: origins.slice(from, from + REPORTED_AT_ONCE) });
  }
}

const begin = (look: Look, health: Health): Target => ({
  look,
  health,
  upstreamIDs: new Set(),
  dueAt: Date.now() + Math.random() * Math.min(health.intervalSeconds, 2) * 1000,
  isUnderWay: false,
  isUp: true,
  against: 0,
  last: null,
});

/** By the protocol that visitors are sent on with; where it follows theirs, without TLS. */
function lookOf(
  { scheme, host, sni, verify = false, certID }: Origin,
  health: Health,
  { address, port }: Origin['upstreams'][number],
): Look {
  const name = sni ?? host ?? health.host;
  return {
    address,
    port,
    tls:
      scheme === 'https' ? { name: name.replace(/:\d+$/, ''), verify, ...(certID !== undefined && { certID }) } : null,
    host: health.host,
    path: health.path,
    timeoutSeconds: health.timeoutSeconds,
    statusFrom: health.statusFrom,
    statusTo: health.statusTo,
  };
}
