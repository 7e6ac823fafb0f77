// Checks the origins of every domain with health checks and reports the results to nginx and the control plane.
// State covers only the latest checks. Every origin counts as healthy after a start.
import type { HostDoc } from '@edgeloom/contract/edge/documents.ts';
import type { OriginReport } from '@edgeloom/contract/edge/messages.ts';
import type { Log } from '../log.ts';
import { check, type CheckResult, type OriginCheck, type CheckDeps } from './check.ts';

type Origin = HostDoc['origin'];
type Health = NonNullable<Origin['health']>;

interface Target {
  originCheck: OriginCheck;
  health: Health;
  /** The rows of all domains that use this origin. */
  upstreamIDs: Set<string>;
  dueAt: number;
  isUnderWay: boolean;
  isUp: boolean;
  /** Consecutive checks that contradict the current state. */
  contradictions: number;
  last: CheckResult | null;
}

/** One upstream of a document, with the target that checks it. */
interface TargetRow {
  id: string;
  upstreamID: string;
}

interface Deps extends CheckDeps {
  /** The zone's origin policy is known. */
  isReady: () => boolean;
  /** Reports origins that are down, and those that recovered, to nginx. */
  setInNginx: (down: string[], up: string[], seconds: number) => Promise<void>;
  report: (report: OriginReport) => void;
  log: Log;
}

const UPDATE_DELAY_MS = 100;
const TICK_MS = 200;
const MAX_CONCURRENT = 64;
/** nginx receives the state this often and expires it, so a dead agent disables no origin for ever. */
const REFRESH_NGINX_INTERVAL_MS = 10_000;
const EXPIRES_AFTER_SECONDS = 60;
const REPORT_INTERVAL_MS = 60_000;
const MAX_PER_REPORT = 1000;

export class HealthChecks {
  readonly #deps: Deps;
  /** By the check itself, as JSON, so that domains with equal checks share one. */
  readonly #targets = new Map<string, Target>();
  /** The targets of each document, and the upstream's row of each. */
  readonly #byDocument = new Map<string, TargetRow[]>();
  readonly #timer: NodeJS.Timeout;
  readonly #stopping = new AbortController();
  #updating: NodeJS.Timeout | undefined;
  #underWay = 0;
  #nginxRefreshedAt = 0;
  #reportedAt = 0;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#timer = setInterval(() => this.#tick(), TICK_MS).unref();
  }

  /**
   * Updates the checks of one domain. Null: the document is gone or has no checks. An edit keeps the state of each
   * address: an origin that is down must not count as healthy until its next check.
   */
  set(key: string, doc: HostDoc | null): void {
    const before = this.#byDocument.get(key) ?? [];
    const after = this.#add(doc, before);
    for (const { id, upstreamID } of before)
      if (!after.some((row) => row.id === id && row.upstreamID === upstreamID)) this.#remove(id, upstreamID);
    if (after.length > 0) this.#byDocument.set(key, after);
    else this.#byDocument.delete(key);
    // nginx knows the state by the upstream's row, which may be new.
    if (after.some(({ id }) => this.#targets.get(id)?.isUp === false)) this.#updateNginxSoon();
  }

  #add(doc: HostDoc | null, before: readonly TargetRow[]): TargetRow[] {
    const health = doc?.origin.health;
    if (!doc || !health) return [];
    return doc.origin.upstreams.map((upstream) => {
      const originCheck = checkOf(doc.origin, health, upstream);
      const id = JSON.stringify([originCheck, health]);
      const target = this.#targets.get(id) ?? newTarget(originCheck, health, this.#isUp(upstream, before));
      target.upstreamIDs.add(upstream.id);
      this.#targets.set(id, target);
      return { id, upstreamID: upstream.id };
    });
  }

  #remove(id: string, upstreamID: string): void {
    const target = this.#targets.get(id);
    target?.upstreamIDs.delete(upstreamID);
    if (target?.upstreamIDs.size === 0) this.#targets.delete(id);
  }

  /** The state by the previous checks of the same domain, which may have had another path or interval. */
  #isUp({ address, port }: Origin['upstreams'][number], before: readonly TargetRow[]): boolean {
    const known = before
      .map(({ id }) => this.#targets.get(id))
      .find((target) => target?.originCheck.address === address && target.originCheck.port === port);
    return known?.isUp ?? true;
  }

  stop(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#updating);
    this.#stopping.abort();
  }

  #tick(): void {
    // A check that could not run proves nothing about the origin.
    if (!this.#deps.isReady()) return;
    const now = Date.now();
    for (const target of this.#targets.values()) {
      if (this.#underWay >= MAX_CONCURRENT) break;
      if (target.isUnderWay || target.dueAt > now) continue;
      // Jitter, so that the nodes of a zone do not check an origin in step.
      target.dueAt = now + target.health.intervalSeconds * 1000 * (0.9 + Math.random() * 0.2);
      void this.#run(target);
    }
    if (now - this.#nginxRefreshedAt >= REFRESH_NGINX_INTERVAL_MS) this.#updateNginx([]);
    if (now - this.#reportedAt >= REPORT_INTERVAL_MS) {
      this.#reportedAt = now;
      this.#report([...this.#targets.values()]);
    }
  }

  async #run(target: Target): Promise<void> {
    target.isUnderWay = true;
    this.#underWay += 1;
    const result = await check(target.originCheck, this.#deps);
    target.isUnderWay = false;
    this.#underWay -= 1;
    if (this.#stopping.signal.aborted || target.upstreamIDs.size === 0) return;
    const isFirst = target.last === null;
    target.last = result;
    target.contradictions = target.isUp === (result.reason === null) ? 0 : target.contradictions + 1;
    const hasChanged = target.contradictions >= (target.isUp ? target.health.fails : target.health.passes);
    if (hasChanged) {
      target.isUp = !target.isUp;
      target.contradictions = 0;
      const { address, port } = target.originCheck;
      this.#deps.log.info(target.isUp ? 'an origin is back' : 'an origin is down', {
        address,
        port,
        reason: result.reason ?? '',
      });
      this.#updateNginx(target.isUp ? [...target.upstreamIDs] : []);
    }
    if (hasChanged || isFirst) this.#report([target]);
  }

  /** Once for all documents of a change. */
  #updateNginxSoon(): void {
    this.#updating ??= setTimeout(() => {
      this.#updating = undefined;
      this.#updateNginx([]);
    }, UPDATE_DELAY_MS);
  }

  #updateNginx(up: string[]): void {
    this.#nginxRefreshedAt = Date.now();
    const down = [...this.#targets.values()].flatMap(({ isUp, upstreamIDs }) => (isUp ? [] : [...upstreamIDs]));
    if (down.length + up.length === 0) return;
    // The next report follows soon in any case.
    this.#deps
      .setInNginx(down, up, EXPIRES_AFTER_SECONDS)
      .catch((error: unknown) => this.#deps.log.warn('nginx did not receive the health of origins', { error }));
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
    for (let from = 0; from < origins.length; from += MAX_PER_REPORT)
      this.#deps.report({ origins: origins.slice(from, from + MAX_PER_REPORT) });
  }
}

const newTarget = (originCheck: OriginCheck, health: Health, isUp: boolean): Target => ({
  originCheck,
  health,
  upstreamIDs: new Set(),
  dueAt: Date.now() + Math.random() * Math.min(health.intervalSeconds, 2) * 1000,
  isUnderWay: false,
  isUp,
  contradictions: 0,
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
