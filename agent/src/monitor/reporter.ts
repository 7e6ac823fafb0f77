// Reports results to the control plane, and receives the checks to do. Without replies it does no checks: its own
// network may be down, so that all nodes seem to fail, or its key may have been revoked.
import { MAX_REPORT_RESULTS, MONITOR_REPORT_MS, MonitorReply } from '@edgeloom/contract/edge/monitors.ts';
import type { MonitorCheck, MonitorReport, MonitorResult } from '@edgeloom/contract/edge/monitors.ts';
import { Refused } from '@edgeloom/contract/edge/messages.ts';
import { subjects } from '@edgeloom/contract/subjects.ts';
import { connectToNats } from '../link/connect.ts';
import type { Log } from '../log.ts';
import { version } from '../version.ts';
import type { MonitorIdentity } from './identity.ts';

const REPLY_TIMEOUT_MS = 5000;
/** Results of this time share a report. */
const GATHER_MS = 200;
/** A result that repeats what the control plane knows is sent this often. */
const RESULT_REPEAT_MS = 30_000;

/** The parts of a NATS connection that it uses. */
export interface ReportConnection {
  request: (subject: string, message: string, options: { timeout: number }) => Promise<{ json: () => unknown }>;
  isClosed: () => boolean;
  close: () => Promise<void>;
}
type Connect = (identity: MonitorIdentity) => Promise<ReportConnection>;

export class Reporter {
  readonly #identity: MonitorIdentity;
  readonly #follow: (checks: readonly MonitorCheck[]) => void;
  readonly #log: Log;
  readonly #connect: Connect;
  /** The last result of each node that the control plane does not have yet. */
  readonly #pending = new Map<string, MonitorResult>();
  /** When the control plane received the last result of a node, in performance.now(). */
  readonly #sentAt = new Map<string, number>();
  readonly #ended: Promise<void>;
  #hasNew = false;
  #connection: ReportConnection | null = null;
  #plan = '';
  #isStopping = false;
  #isFailing = false;
  #wake: () => void = () => undefined;

  constructor(
    identity: MonitorIdentity,
    follow: (checks: readonly MonitorCheck[]) => void,
    log: Log,
    connect: Connect = connectToNats,
  ) {
    this.#identity = identity;
    this.#follow = follow;
    this.#log = log;
    this.#connect = connect;
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
    await this.#connection?.close();
    await this.#ended;
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      try {
        if (this.#connection === null || this.#connection.isClosed())
          this.#connection = await this.#connect(this.#identity);
        // Errors of its own network are not sent: a dead connection would deliver them when the network is back.
        if (this.#hasNew) await this.#report(this.#connection, []);
        const results = [...this.#pending.values()].slice(0, MAX_REPORT_RESULTS);
        // The rest of many results follows soon.
        this.#hasNew = results.length < this.#pending.size;
        await this.#report(this.#connection, results);
        if (this.#isFailing) this.#log.info('the control plane has the reports again');
        this.#isFailing = false;
      } catch (error) {
        if (!this.#isFailing && !this.#isStopping) this.#log.warn('a report was not received', { error });
        this.#isFailing = true;
        this.#endChecks();
      }
      if (!this.#isStopping) await this.#pause();
    }
    await this.#connection?.close();
  }

  async #report(connection: ReportConnection, results: MonitorResult[]): Promise<void> {
    const report: MonitorReport = { version, plan: this.#plan, results };
    const subject = subjects.monitor(this.#identity.nodeID);
    const message = (await connection.request(subject, JSON.stringify(report), { timeout: REPLY_TIMEOUT_MS })).json();
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

  /** The next reply has the checks again, and their counts start at zero. */
  #endChecks(): void {
    this.#follow([]);
    this.#plan = '';
    this.#pending.clear();
    this.#sentAt.clear();
    this.#hasNew = false;
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
