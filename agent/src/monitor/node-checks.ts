// Does the checks that the control plane asks for, and counts their results per node.
import type { MonitorCheck, MonitorResult } from '@edgeloom/contract/edge/monitors.ts';
import type { Log } from '../log.ts';
import { Loop } from '../loop.ts';
import { CannotCheckError, type Finding } from './check-node.ts';

/** A change of a node's state is confirmed by checks this far apart, or by its interval if that is shorter. */
const CONFIRM_MS = 1000;
/** Checks in a row that settle a state. The control plane decides; later checks only repeat it. */
const SETTLED_FAILURES = 3;
const SETTLED_SUCCESSES = 2;
/** Checks of a new plan begin within this time. */
const SPREAD_MS = 500;
const MAX_COUNT = 1_000_000;

interface Deps {
  checkNode: (check: MonitorCheck) => Promise<Finding>;
  /** Called after each result. */
  onResult: (result: MonitorResult) => void;
  log: Log;
}

export class NodeChecks {
  readonly #deps: Deps;
  readonly #loops = new Map<string, { version: string; loop: Loop }>();

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
    for (const check of checks)
      if (!this.#loops.has(check.nodeID))
        this.#loops.set(check.nodeID, { version: check.version, loop: this.#start(check) });
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#loops.values()].map(({ loop }) => loop.stop()));
  }

  #start(check: MonitorCheck): Loop {
    const intervalMs = check.interval * 1000;
    const counts = { failures: 0, successes: 0 };
    return new Loop({
      task: async (signal) => {
        const { error, tookMs } = await this.#deps.checkNode(check);
        if (signal.aborted) return 0;
        countResult(counts, error === null);
        const { nodeID, version } = check;
        this.#deps.onResult({ nodeID, version, ...counts, tookMs, error });
        return isSettled(counts) ? intervalMs : Math.min(CONFIRM_MS, intervalMs);
      },
      firstPauseMs: Math.random() * Math.min(SPREAD_MS, intervalMs),
      retryMs: intervalMs,
      onError: (error) => {
        const level = error instanceof CannotCheckError ? 'warn' : 'error';
        this.#deps.log[level]('a node could not be checked', { nodeID: check.nodeID, error });
      },
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

const isSettled = ({ failures, successes }: Counts) => failures >= SETTLED_FAILURES || successes >= SETTLED_SUCCESSES;
