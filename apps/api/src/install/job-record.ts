// A claimed job and its steps in the database. Updates hold only while the lease does.
import type { NodeJobKind, NodeStep, NodeStepFault } from '@edgeloom/contract/node-jobs/node-jobs.ts';
import type { Pool } from 'pg';
import type { Installation } from '../core/installation.ts';
import { LeaseLostError, leases, RELEASE_LEASE } from '../core/lease.ts';
import { linkOf } from '../node-link/start.ts';
import type { System } from './artifacts.ts';

/** Stored output per step. */
const MAX_OUTPUT_CHARACTERS = 262_144;
const MAX_MESSAGE_CHARACTERS = 1000;

export interface ClaimedJob {
  id: string;
  nodeId: string;
  kind: NodeJobKind;
  system: System | null;
  keepSsh: boolean;
  tries: number;
  claim: string;
}

export interface StepRow {
  position: number;
  name: NodeStep;
  state: string;
}

/** SQL: the job, while this process holds its lease. $1 is the job, $2 the claim. */
const IS_OURS = `id = $1 AND claimed_by = $2 AND ${leases.nodeJobs.isOpen}`;

/** Each method throws LeaseLostError when another process has the job. */
export class JobRecord {
  readonly #pool: Pool;
  readonly #job: ClaimedJob;
  readonly #now: () => Date;

  constructor(pool: Pool, job: ClaimedJob, now: () => Date) {
    this.#pool = pool;
    this.#job = job;
    this.#now = now;
  }

  async readOpenSteps(): Promise<StepRow[]> {
    const { rows } = await this.#pool.query<StepRow>(
      `SELECT position, name, state FROM node_job_steps WHERE job_id = $1 AND state <> 'done' ORDER BY position`,
      [this.#job.id],
    );
    return rows;
  }

  beginStep(step: StepRow): Promise<void> {
    return this.#updateStep(
      step,
      `state = 'running', fault = NULL, message = NULL, ended_at = NULL, started_at = coalesce(s.started_at, $4)`,
      [this.#now()],
    );
  }

  appendOutput(step: StepRow, text: string): Promise<void> {
    const most = MAX_OUTPUT_CHARACTERS;
    return this.#updateStep(
      step,
      `output = CASE WHEN length(s.output) >= ${most} THEN s.output ELSE left(s.output || $4, ${most}) END`,
      [text],
    );
  }

  /** Tries count per step, so that a long installation survives several broken connections. */
  async endStep(step: StepRow): Promise<void> {
    await this.#updateStep(step, `state = 'done', ended_at = $4`, [this.#now()]);
    if (this.#job.tries === 0) return;
    this.#job.tries = 0;
    await this.#update(`UPDATE node_jobs SET tries = 0 WHERE ${IS_OURS}`);
  }

  async fail(step: StepRow | undefined, fault: NodeStepFault, message: string): Promise<void> {
    const at = this.#now();
    if (step)
      await this.#updateStep(step, `state = 'failed', fault = $4, message = $5, ended_at = $6`, [
        fault,
        message.slice(0, MAX_MESSAGE_CHARACTERS),
        at,
      ]);
    await this.#update(`UPDATE node_jobs SET state = 'failed', ended_at = $3, ${RELEASE_LEASE} WHERE ${IS_OURS}`, [at]);
  }

  retryAfter(seconds: number): Promise<void> {
    return this.#update(
      `UPDATE node_jobs SET state = 'waiting', tries = tries + 1, due_at = $3, ${RELEASE_LEASE} WHERE ${IS_OURS}`,
      [new Date(this.#now().getTime() + seconds * 1000)],
    );
  }

  setSystem(system: System): Promise<void> {
    return this.#update(`UPDATE node_jobs SET system = $3 WHERE ${IS_OURS}`, [JSON.stringify(system)]);
  }

  setFingerprint(fingerprint: string): Promise<void> {
    return this.#update(`UPDATE node_jobs SET fingerprint = $3 WHERE ${IS_OURS}`, [fingerprint]);
  }

  /** From now on the host key must match. */
  async pinHostKey(fingerprint: string): Promise<void> {
    await this.#pool.query(`UPDATE nodes SET ssh_fingerprint = $2 WHERE id = $1 AND ssh_fingerprint IS NULL`, [
      this.#job.nodeId,
      fingerprint,
    ]);
  }

  #updateStep({ position }: StepRow, assignments: string, values: unknown[]): Promise<void> {
    return this.#update(
      `UPDATE node_job_steps s SET ${assignments} FROM node_jobs j
       WHERE j.id = s.job_id AND s.job_id = $1 AND j.claimed_by = $2 AND j.state = 'processing' AND s.position = $3`,
      [position, ...values],
    );
  }

  /** $1 is the job, $2 the claim. */
  async #update(text: string, values: unknown[] = []): Promise<void> {
    const { rowCount } = await this.#pool.query(text, [this.#job.id, this.#job.claim, ...values]);
    if (rowCount !== 1) throw new LeaseLostError();
  }
}

/** After success the SSH credentials are deleted, unless they are to be kept. */
export async function completeJob(
  installation: Installation,
  { id, nodeId, kind, keepSsh, claim }: ClaimedJob,
  at: Date,
): Promise<void> {
  await installation.db.$transaction(async (tx) => {
    const { count } = await tx.nodeJob.updateMany({
      where: { id, claimedBy: claim, state: 'processing' },
      data: { state: 'completed', endedAt: at, claimedBy: null, claimedUntil: null },
    });
    if (count !== 1) throw new LeaseLostError();
    const forgotten = keepSsh ? {} : { sshPasswordSealed: null, sshPrivateKeySealed: null };
    if (kind === 'install') {
      await tx.edgeNode.update({ where: { id: nodeId }, data: forgotten });
      return;
    }
    const { publicKey } = await tx.edgeNode.findUniqueOrThrow({ where: { id: nodeId }, select: { publicKey: true } });
    if (publicKey !== null) await tx.revokedKey.createMany({ data: [{ publicKey }], skipDuplicates: true });
    await tx.edgeNode.update({ where: { id: nodeId }, data: { ...forgotten, publicKey: null, joinedAt: null } });
  });
  if (kind === 'uninstall') await linkOf(installation)?.revoke();
}
