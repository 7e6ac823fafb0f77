// Checks the origins of every domain with health checks and reports the results to nginx and the control plane.
// State covers only the latest checks. Every origin counts as healthy after a start.
import type { HostDoc } from '@edgeloom/contract/edge/documents.ts';
import type { OriginReport } from '@edgeloom/contract/edge/messages.ts';
import type { Log } from '../log.ts';
import { check, type CheckResult, type OriginCheck, type CheckDeps } from './check.ts';

type Origin = HostDoc['origin'];
type Health = NonNullable<Origin['health']>;

interface Target {
  look: OriginCheck;
  health: Health;
  /** The rows of all domains that use this origin. */
  upstreamIDs: Set<string>;
  dueAt: number;
  isUnderWay: boolean;
  isUp: boolean;
  /** Consecutive checks that contradict the current state. */
  against: number;
  last: CheckResult | null;
}

interface Deps extends CheckDeps {
  /** The zone's origin policy is known. */
  isReady: () => boolean;
  /** Reports origins that are down, and those that recovered, to nginx. */
  setInNginx: (down: string[], up: string[], seconds: number) => Promise<void>;
  report: (report: OriginReport) => void;
  log: Log;
}

const TICK_MS = 200;
const AT_ONCE = 64;
/** nginx receives the state this often and expires it, so a dead agent takes no origin out for ever. */
const REFRESH_NGINX_EVERY_MS = 10_000;
const FORGOTTEN_AFTER_SECONDS = 60;
const REPORT_EVERY_MS = 60_000;
const REPORTED_AT_ONCE = 1000;

export class HealthChecks {
  readonly #parts: Deps;
  /** By what is checked. */
  readonly #targets = new Map<string, Target>();
  /** The checks of each document, with the row of each. */
  readonly #byDocument = new Map<string, { mark: string; upstreamID: string }[]>();
  readonly #timer: NodeJS.Timeout;
  readonly #stopping = new AbortController();
  #underWay = 0;
  #nginxRefreshedAt = 0;
  #reportedAt = 0;

  constructor(parts: Deps) {
    this.#parts = parts;
    this.#timer = setInterval(() => this.#tick(), TICK_MS).unref();
  }

  /** Updates the checks of one domain. Null: the document is gone or has no checks. */
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
        const look = checkOf(doc.origin, health, upstream);
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
    // A check that could not run proves nothing about the origin.
    if (!this.#parts.isReady()) return;
    const now = Date.now();
    for (const target of this.#targets.values()) {
      if (this.#underWay >= AT_ONCE) break;
      if (target.isUnderWay || target.dueAt > now) continue;
      // Jitter, so that the nodes of a zone do not check an origin in step.
      target.dueAt = now + target.health.intervalSeconds * 1000 * (0.9 + Math.random() * 0.2);
      void this.#look(target);
    }
    if (now - this.#nginxRefreshedAt >= REFRESH_NGINX_EVERY_MS) this.#updateNginx([]);
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
      this.#updateNginx(target.isUp ? [...target.upstreamIDs] : []);
    }
    if (isTurned || isFirst) this.#report([target]);
  }

  #updateNginx(up: string[]): void {
    this.#nginxRefreshedAt = Date.now();
    const down = [...this.#targets.values()].flatMap(({ isUp, upstreamIDs }) => (isUp ? [] : [...upstreamIDs]));
    if (down.length + up.length === 0) return;
    // The next report follows soon in any case.
    this.#parts
      .setInNginx(down, up, FORGOTTEN_AFTER_SECONDS)
      .catch((error: unknown) => this.#parts.log.warn('nginx did not receive the health of origins', { error }));
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

const begin = (look: OriginCheck, health: Health): Target => ({
  look,
  health,
  upstreamIDs: new Set(),
  dueAt: Date.now() + Math.random() * Math.min(health.intervalSeconds, 2) * 1000,
  isUnderWay: false,
  isUp: true,
  against: 0,
  last: null,
});

/** Uses the protocol of the origin. Where it follows the visitor's, checks without TLS. */
function checkOf(
  { scheme, host, sni, verify = false, certID }: Origin,
  health: Health,
  { address, port }: Origin['upstreams'][number],
): OriginCheck {
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
