// Does the checks that the control plane asks for, and counts their results per node.
import { FAILURES_TO_FAIL, SUCCESSES_TO_RECOVER } from '@edgeloom/contract/edge/monitors.ts';
import type { MonitorCheck, MonitorResult } from '@edgeloom/contract/edge/monitors.ts';
import type { Log } from '../log.ts';
import { Loop } from '../loop.ts';
import { Slots } from '../slots.ts';
import { CannotCheckError, messageOf, type Finding } from './check-node.ts';

/** A change of a node's state is confirmed by checks this far apart, or by its interval if that is shorter. */
const CONFIRM_MS = 1000;
/** New checks begin this far apart, and keep the distance. At once, they would slow each other down until they fail. */
const START_EVERY_MS = 20;
/** Checks at the same time. Others wait, and their timeout begins after that. */
const MAX_CHECKS = 50;
const MAX_COUNT = 1_000_000;

interface Deps {
  checkNode: (check: MonitorCheck, stopping: AbortSignal) => Promise<Finding>;
  /** Called after each check. `isNew`: the monitor's finding about the node has changed. */
  onResult: (result: MonitorResult, isNew: boolean) => void;
  log: Log;
}

export class NodeChecks {
  readonly #deps: Deps;
  readonly #loops = new Map<string, { version: string; loop: Loop }>();
  readonly #slots = new Slots(MAX_CHECKS);

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Checks with unchanged settings go on. */
  follow(checks: readonly MonitorCheck[]): void {
    const wanted = new Map(checks.map((check) => [check.nodeID, check]));
    for (const [id, { version, loop }] of this.#loops) {
      if (wanted.get(id)?.version === version) continue;
      void loop.stop();
      this.#loops.delete(id);
    }
    for (const [i, check] of checks.filter(({ nodeID }) => !this.#loops.has(nodeID)).entries())
      this.#loops.set(check.nodeID, { version: check.version, loop: this.#start(check, i * START_EVERY_MS) });
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#loops.values()].map(({ loop }) => loop.stop()));
  }

  #start(check: MonitorCheck, offsetMs: number): Loop {
    const intervalMs = check.interval * 1000;
    const counts = { failures: 0, successes: 0 };
    const { nodeID, version } = check;
    let finding: ReturnType<typeof findingOf> = null;
    return new Loop({
      task: async (signal) => {
        try {
          const { error, tookMs } = await this.#slots.run(signal, () => this.#deps.checkNode(check, signal));
          if (signal.aborted) return 0;
          countResult(counts, error === null);
          const found = findingOf(counts);
          const isNew = found !== null && found !== finding;
          finding = found ?? finding;
          this.#deps.onResult({ nodeID, version, ...counts, tookMs, error }, isNew);
          return found === null ? Math.min(CONFIRM_MS, intervalMs) : intervalMs;
        } catch (error) {
          if (signal.aborted) return 0;
          if (!(error instanceof CannotCheckError)) throw error;
          Object.assign(counts, { failures: 0, successes: 0 });
          const isNew = finding !== 'cannotCheck';
          if (isNew) this.#deps.log.warn('this machine cannot check a node', { nodeID, error });
          finding = 'cannotCheck';
          this.#deps.onResult({ nodeID, version, ...counts, tookMs: 0, error: messageOf(error) }, isNew);
          return intervalMs;
        }
      },
      firstPauseMs: offsetMs % intervalMs,
      retryMs: intervalMs,
      onError: (error) => this.#deps.log.error('a node could not be checked', { nodeID, error }),
    });
  }
}

interface Counts {
  failures: number;
  successes: number;
}

function countResult(counts: Counts, isGood: boolean): void {
  counts.failures = isGood ? 0 : Math.min(counts.failures + 1, MAX_COUNT);
  counts.successes = isGood ? Math.min(counts.successes + 1, MAX_COUNT) : 0;
}

/** Null until enough checks in a row agree. */
function findingOf({ failures, successes }: Counts): 'failing' | 'passing' | 'cannotCheck' | null {
  if (failures >= FAILURES_TO_FAIL) return 'failing';
  return successes >= SUCCESSES_TO_RECOVER ? 'passing' : null;
}
