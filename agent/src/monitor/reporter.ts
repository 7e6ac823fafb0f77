// Reports results to the control plane, and receives the checks to do. Each report repeats what an unanswered one had.
import { MONITOR_REPORT_MS, MonitorReply } from '@edgeloom/contract/edge/monitors.ts';
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
const MAX_RESULTS = 1000;

export class Reporter {
  readonly #identity: MonitorIdentity;
  readonly #follow: (checks: readonly MonitorCheck[]) => void;
  readonly #log: Log;
  /** The last result of each node that the control plane does not have yet. */
  readonly #pending = new Map<string, MonitorResult>();
  readonly #ended: Promise<void>;
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

  add(result: MonitorResult): void {
    this.#pending.set(result.nodeID, result);
    this.#wake();
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
    const results = [...this.#pending.values()].slice(0, MAX_RESULTS);
    const report: MonitorReport = { version, plan: this.#plan, results };
    const subject = subjects.monitor(this.#identity.nodeID);
    const message: unknown = (
      await line.request(subject, JSON.stringify(report), { timeout: REPLY_TIMEOUT_MS })
    ).json();
    const refusal = Refused.safeParse(message).data;
    if (refusal !== undefined) throw new Error(refusal.refused);
    const { plan, checks } = MonitorReply.parse(message);
    for (const result of results) if (this.#pending.get(result.nodeID) === result) this.#pending.delete(result.nodeID);
    if (checks === undefined) return;
    this.#plan = plan;
    this.#log.info('received the nodes to check', { nodes: checks.length });
    this.#follow(checks);
  }

  /** Until the next report is due. A new result makes it due soon, unless the last report failed. */
  async #pause(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, MONITOR_REPORT_MS);
      this.#wake = () => {
        if (this.#isFailing && !this.#isStopping) return;
        this.#wake = () => undefined;
        clearTimeout(timer);
        setTimeout(resolve, this.#isStopping ? 0 : GATHER_MS);
      };
      if (this.#pending.size > 0) this.#wake();
    });
    this.#wake = () => undefined;
  }
}
