// Continues a job from its first unfinished step. All state is stored, so any process can resume it after a crash or a
// broken connection.
import { randomUUIDv7 } from 'node:crypto';
import { setInterval } from 'node:timers';
import type { Pool } from 'pg';
import type { Installation } from '../core/installation.ts';
import { isUnleased, keepLease, LeaseLostError, leases, releaseLease, takeLease } from '../core/lease.ts';
import { ConnectionBroken, connectTo, StepFailure, type Host } from './host.ts';
import { completeJob, JobRecord, type ClaimedJob, type StepRow } from './job-record.ts';
import { openLogin } from './login.ts';
import { StepOutput } from './step-output.ts';
import { runStep } from './steps.ts';
import type { Target } from './target.ts';

const FLUSH_MS = 150;
const MAX_TRIES = 8;
const FIRST_WAIT_SECONDS = 1;
const MAX_WAIT_SECONDS = 30;

/** Claims the job that has waited longest. */
export async function claimJob(pool: Pool, now: Date): Promise<ClaimedJob | null> {
  const claim = randomUUIDv7();
  const { rows } = await pool.query<Omit<ClaimedJob, 'claim'>>(
    `UPDATE node_jobs SET state = 'processing', ${takeLease(leases.nodeJobs, '$1')}
     WHERE id = (SELECT id FROM node_jobs WHERE state IN ('waiting', 'processing') AND due_at <= $2
                   AND ${isUnleased('node_jobs')}
                 ORDER BY due_at, id LIMIT 1 FOR UPDATE SKIP LOCKED)
     RETURNING id, node_id AS "nodeId", kind, system, keep_ssh AS "keepSsh", tries`,
    [claim, now],
  );
  return rows[0] ? { ...rows[0], claim } : null;
}

/** Runs the job until it ends, its connection breaks, or the process stops. */
export async function runJob(
  installation: Installation,
  job: ClaimedJob,
  now: () => Date,
  stopping: AbortSignal,
): Promise<void> {
  const run = new JobRun(installation, job, now, stopping);
  try {
    await run.finishSteps();
    await completeJob(installation, job, now());
  } catch (error) {
    await run.handle(error);
  } finally {
    run.close();
  }
}

class JobRun {
  readonly #installation: Installation;
  readonly #job: ClaimedJob;
  readonly #now: () => Date;
  readonly #stopping: AbortSignal;
  readonly #leaseLost = new AbortController();
  /** Aborts when the process stops or the lease is lost. */
  readonly #signal: AbortSignal;
  readonly #record: JobRecord;
  readonly #output = new StepOutput();
  readonly #lease: { stop: () => void };
  readonly #flushing: NodeJS.Timeout;
  #step: StepRow | undefined;
  #host: Host | null = null;

  constructor(installation: Installation, job: ClaimedJob, now: () => Date, stopping: AbortSignal) {
    this.#installation = installation;
    this.#job = job;
    this.#now = now;
    this.#stopping = stopping;
    this.#signal = AbortSignal.any([stopping, this.#leaseLost.signal]);
    this.#record = new JobRecord(installation.pool, job, now);
    this.#lease = keepLease(installation.pool, leases.nodeJobs, job, () => this.#leaseLost.abort());
    this.#flushing = setInterval(() => void this.#flush().catch((error: unknown) => this.#note(error)), FLUSH_MS);
  }

  async finishSteps(): Promise<void> {
    const steps = await this.#record.readOpenSteps();
    const [first] = steps;
    if (!first) return;
    await this.#begin(first);
    const { host, target } = await this.#connect(first);
    let { system } = this.#job;
    for (const step of steps) {
      if (step !== first) await this.#begin(step);
      await runStep(step.name, {
        installation: this.#installation,
        target,
        host,
        system,
        say: this.#log,
        now: this.#now,
        signal: this.#signal,
        hide: (secret) => this.#output.hide(secret),
        learn: async (detected) => {
          system = detected;
          await this.#record.setSystem(detected);
        },
      });
      await this.#flush();
      await this.#record.endStep(step);
    }
  }

  async handle(error: unknown): Promise<void> {
    if (error instanceof LeaseLostError || this.#leaseLost.signal.aborted) return;
    if (this.#stopping.aborted) return releaseLease(this.#installation.pool, leases.nodeJobs, this.#job);
    if (error instanceof StepFailure) return this.#fail(error);
    if (!(error instanceof ConnectionBroken)) throw error;
    const reason = error.message === '' ? '' : ` (${error.message})`;
    if (this.#job.tries + 1 >= MAX_TRIES)
      return this.#fail(new StepFailure('broken', `the connection broke ${MAX_TRIES} times${reason}`));
    const waitSeconds = Math.min(FIRST_WAIT_SECONDS * 2 ** this.#job.tries, MAX_WAIT_SECONDS);
    this.#log(`… the connection broke${reason}; again in ${waitSeconds} s`);
    await this.#flush();
    await this.#record.retryAfter(waitSeconds);
  }

  close(): void {
    this.#lease.stop();
    clearInterval(this.#flushing);
    this.#host?.close();
  }

  async #connect(first: StepRow): Promise<{ host: Host; target: Target }> {
    const { target, login } = await openLogin(this.#installation, this.#job.nodeId);
    if (login.password !== null) this.#output.hide(login.password);
    const host = await connectTo(login, { say: this.#log, signal: this.#signal }).catch((error: unknown) => {
      throw mayReturn(error, this.#job, first) ? new ConnectionBroken(error.message) : error;
    });
    this.#host = host;
    this.#log(
      first.name === 'connect'
        ? `connected as ${login.user}; the machine shows ${host.fingerprint}`
        : '… connected again',
    );
    await this.#record.setFingerprint(host.fingerprint);
    if (login.fingerprint === null) await this.#record.pinHostKey(host.fingerprint);
    return { host, target };
  }

  async #begin(step: StepRow): Promise<void> {
    this.#step = step;
    await this.#record.beginStep(step);
  }

  async #fail({ fault, message }: StepFailure): Promise<void> {
    await this.#flush();
    await this.#record.fail(this.#step, fault, message);
  }

  readonly #log = (line: string): void => this.#output.add(line);

  async #flush(): Promise<void> {
    const step = this.#step;
    if (step) await this.#output.flush((text) => this.#record.appendOutput(step, text));
  }

  /** A lost lease ends the run at its next await. After another error the next flush stores the output. */
  #note(error: unknown) {
    if (error instanceof LeaseLostError) this.#leaseLost.abort();
  }
}

/** A machine reached before may be restarting: first unreachable, then refusing some users. */
const mayReturn = (error: unknown, { tries }: ClaimedJob, { name }: StepRow): error is StepFailure =>
  error instanceof StepFailure &&
  ((error.fault === 'unreachable' && (tries > 0 || name !== 'connect')) ||
    (error.fault === 'credentials' && tries > 0));
