// Reports results to the control plane, and receives the checks to do. Each report repeats what an unanswered one had.
import { MAX_REPORT_RESULTS, MONITOR_REPORT_MS, MonitorReply } from '@edgeloom/contract/edge/monitors.ts';
import type { MonitorCheck, MonitorReport, MonitorResult } from '@edgeloom/contract/edge/monitors.ts';
import { Refused } from '@edgeloom/contract/edge/messages.ts';
import { subjects } from '@edgeloom/contract/subjects.ts';
import type { NatsConnection } from 'nats';
import { connectToNats } from '../link/connect.ts';
import type { Log } from '../log.ts';
import { version } from '../version.ts';
import type { MonitorIdentity } from './identity.ts';

const REPLY_TIMEOUT_MS = 5000;
/** Results of this time share a report. */
const GATHER_MS = 200;
/** A result that repeats what the control plane knows is sent this often. */
const RESULT_REPEAT_MS = 30_000;

export class Reporter {
  readonly #identity: MonitorIdentity;
  readonly #follow: (checks: readonly MonitorCheck[]) => void;
  readonly #log: Log;
  /** The last result of each node that the control plane does not have yet. */
  readonly #pending = new Map<string, MonitorResult>();
  /** When the control plane received the last result of a node, in performance.now(). */
  readonly #sentAt = new Map<string, number>();
  readonly #ended: Promise<void>;
  #hasNew = false;
  #line: NatsConnection | null = null;
  #plan = '';
  #isStopping = false;
  #isFailing = false;
  #wake: () => void = () => undefined;

  constructor(identity: MonitorIdentity, follow: (checks: readonly MonitorCheck[]) => void, log: Log) {
    this.#identity = identity;
    this.#follow = follow;
    this.#log = log;
    this.#ended = this.#run();
  }

  /** A new finding is sent soon, others with the next report. */
  add(result: MonitorResult, isNew: boolean): void {
    const { nodeID } = result;
    const sentAt = this.#sentAt.get(nodeID) ?? -Infinity;
    if (!isNew && !this.#pending.has(nodeID) && performance.now() - sentAt < RESULT_REPEAT_MS) return;
    this.#pending.set(nodeID, result);
    this.#hasNew ||= isNew;
    if (isNew) this.#wake();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#wake();
    await this.#line?.close();
    await this.#ended;
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      try {
        if (this.#line === null || this.#line.isClosed()) this.#line = await connectToNats(this.#identity);
        await this.#report(this.#line);
        if (this.#isFailing) this.#log.info('the control plane has the reports again');
        this.#isFailing = false;
      } catch (error) {
        if (!this.#isFailing && !this.#isStopping) this.#log.warn('a report was not received', { error });
        this.#isFailing = true;
      }
      if (!this.#isStopping) await this.#pause();
    }
    await this.#line?.close();
  }

  async #report(line: NatsConnection): Promise<void> {
    const results = [...this.#pending.values()].slice(0, MAX_REPORT_RESULTS);
    // The rest of many results follows soon.
    this.#hasNew = results.length < this.#pending.size;
    const report: MonitorReport = { version, plan: this.#plan, results };
    const subject = subjects.monitor(this.#identity.nodeID);
    const message: unknown = (
      await line.request(subject, JSON.stringify(report), { timeout: REPLY_TIMEOUT_MS })
    ).json();
    const refusal = Refused.safeParse(message).data;
    if (refusal !== undefined) throw new Error(refusal.refused);
    const { plan, checks } = MonitorReply.parse(message);
    for (const result of results) {
      if (this.#pending.get(result.nodeID) === result) this.#pending.delete(result.nodeID);
      this.#sentAt.set(result.nodeID, performance.now());
    }
    if (checks === undefined) return;
    this.#plan = plan;
    this.#sentAt.clear();
    this.#log.info('received the nodes to check', { nodes: checks.length });
    this.#follow(checks);
  }

  /** Until the next report is due. A new finding makes it due soon, unless the last report failed. */
  async #pause(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, MONITOR_REPORT_MS);
      this.#wake = () => {
        if (this.#isFailing && !this.#isStopping) return;
        this.#wake = () => undefined;
        clearTimeout(timer);
        setTimeout(resolve, this.#isStopping ? 0 : GATHER_MS);
      };
      if (this.#hasNew) this.#wake();
    });
    this.#wake = () => undefined;
  }
}
