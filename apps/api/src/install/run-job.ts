// Continues a job from its first unfinished step. All state is stored, so any process can resume it after a crash or a
// broken connection.
import { randomUUIDv7 } from 'node:crypto';
import { setInterval } from 'node:timers';
import { stripVTControlCharacters } from 'node:util';
import type { NodeJobKind, NodeStep, NodeStepFault } from '@edgeloom/contract/node-jobs/node-jobs.ts';
import type { Pool } from 'pg';
import type { Installation } from '../core/installation.ts';
import {
  isUnleased,
  keepLease,
  LeaseLostError,
  leases,
  RELEASE_LEASE,
  releaseLease,
  takeLease,
} from '../core/lease.ts';
import { nodeFault } from '../core/outbound.ts';
import { contexts } from '../core/secrets.ts';
import type { System } from './artifacts.ts';
import { linkOf } from '../node-link/start.ts';
import { ConnectionBroken, connectTo, StepFailure, type Host, type Login } from './host.ts';
import { carryOut, stepsOf } from './steps.ts';
import { findTarget, type Target } from './target.ts';

const FLUSH_MS = 150;
/** Stored output per step. */
const MOST_OUTPUT = 262_144;
const TRIES = 8;
const FIRST_WAIT_S = 1;
const LONGEST_WAIT_S = 30;

export interface ClaimedJob {
  id: string;
  nodeId: string;
  kind: NodeJobKind;
  system: System | null;
  keepSsh: boolean;
  tries: number;
  claim: string;
}

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

interface StepRow {
  position: number;
  name: NodeStep;
  state: string;
}

/** Runs the job until it ends, its connection breaks, or the process stops. */
export async function runJob(
  here: Installation,
  job: ClaimedJob,
  now: () => Date,
  stopping: AbortSignal,
): Promise<void> {
  const run = new JobRun(here, job, now, stopping);
  try {
    await run.finishSteps();
    await finish(here, job, now());
  } catch (error) {
    await run.handle(error);
  } finally {
    run.close();
  }
}

/** SQL: the condition of updates, which hold only while the lease does. $1 is the job, $2 the claim. */
const IS_OURS = `id = $1 AND claimed_by = $2 AND ${leases.nodeJobs.isOpen}`;

class JobRun {
  readonly #here: Installation;
  readonly #job: ClaimedJob;
  readonly #now: () => Date;
  readonly #stopping: AbortSignal;
  readonly #lost = new AbortController();
  readonly #signal: AbortSignal;
  readonly #lease: { stop: () => void };
  readonly #flushing: NodeJS.Timeout;
  readonly #secrets = new Set<string>();
  #output = '';
  #step: StepRow | undefined;
  #host: Host | null = null;

  constructor(here: Installation, job: ClaimedJob, now: () => Date, stopping: AbortSignal) {
    this.#here = here;
    this.#job = job;
    this.#now = now;
    this.#stopping = stopping;
    this.#signal = AbortSignal.any([stopping, this.#lost.signal]);
    this.#lease = keepLease(here.pool, leases.nodeJobs, job, () => this.#lost.abort());
    this.#flushing = setInterval(() => void this.#flush().catch(() => undefined), FLUSH_MS);
  }

  async finishSteps(): Promise<void> {
    const { rows } = await this.#here.pool.query<StepRow>(
      `SELECT position, name, state FROM node_job_steps WHERE job_id = $1 ORDER BY position`,
      [this.#job.id],
    );
    const open = rows.filter(({ state }) => state !== 'done');
    const [first] = open;
    if (!first) return;
    await this.#begin(first);
    const { host, target } = await this.#connect(first);
    let { system } = this.#job;
    for (const step of open) {
      if (step !== first) await this.#begin(step);
      await carryOut(step.name, {
        here: this.#here,
        target,
        host,
        system,
        say: this.#log,
        now: this.#now,
        signal: this.#signal,
        hide: (secret) => this.#secrets.add(secret),
        learn: async (found) => {
          system = found;
          await this.#update(`UPDATE node_jobs SET system = $3 WHERE ${IS_OURS}`, [JSON.stringify(found)]);
        },
      });
      await this.#end(step);
    }
  }

  async handle(error: unknown): Promise<void> {
    if (error instanceof LeaseLostError || this.#lost.signal.aborted) return;
    if (this.#stopping.aborted) return releaseLease(this.#here.pool, leases.nodeJobs, this.#job);
    if (error instanceof StepFailure) return this.#fail(error.fault, error.message);
    if (!(error instanceof ConnectionBroken)) throw error;
    const why = error.message === '' ? '' : ` (${error.message})`;
    if (this.#job.tries + 1 >= TRIES) return this.#fail('broken', `the connection broke ${TRIES} times${why}`);
    const wait = Math.min(FIRST_WAIT_S * 2 ** this.#job.tries, LONGEST_WAIT_S);
    this.#log(`… the connection broke${why}; again in ${wait} s`);
    await this.#flush();
    await this.#update(
      `UPDATE node_jobs SET state = 'waiting', tries = tries + 1, due_at = $3, ${RELEASE_LEASE} WHERE ${IS_OURS}`,
      [new Date(this.#now().getTime() + wait * 1000)],
    );
  }

  close(): void {
    this.#lease.stop();
    clearInterval(this.#flushing);
    this.#host?.close();
  }

  async #connect(first: StepRow): Promise<{ host: Host; target: Target }> {
    const { target, login } = await targetOf(this.#here, this.#job);
    if (login.password !== null) this.#secrets.add(login.password);
    const host = await connectTo(login, { say: this.#log, signal: this.#signal }).catch((error: unknown) => {
      throw mayReturn(error, this.#job, first) ? new ConnectionBroken(error.message) : error;
    });
    this.#host = host;
    this.#log(
      first.name === 'connect'
        ? `connected as ${login.user}; the machine shows ${host.fingerprint}`
        : '… connected again',
    );
    await this.#update(`UPDATE node_jobs SET fingerprint = $3 WHERE ${IS_OURS}`, [host.fingerprint]);
    // From now on the host key must match.
    if (login.fingerprint === null)
      await this.#here.pool.query(`UPDATE nodes SET ssh_fingerprint = $2 WHERE id = $1 AND ssh_fingerprint IS NULL`, [
        target.id,
        host.fingerprint,
      ]);
    return { host, target };
  }

  readonly #log = (line: string): void => {
    let text = line;
    for (const secret of this.#secrets) text = text.replaceAll(secret, '•••');
    // PostgreSQL stores no NUL. Terminal control sequences are removed.
    this.#output += `${stripVTControlCharacters(text).replace(/[^\P{Cc}\t]/gu, '')}\n`;
  };

  async #flush(): Promise<void> {
    if (this.#output === '' || !this.#step) return;
    const text = this.#output;
    this.#output = '';
    await this.#updateStep(
      this.#step,
      `output = CASE WHEN length(s.output) >= ${MOST_OUTPUT} THEN s.output ELSE left(s.output || $4, ${MOST_OUTPUT}) END`,
      [text],
    );
  }

  async #begin(step: StepRow): Promise<void> {
    this.#step = step;
    await this.#updateStep(
      step,
      `state = 'running', fault = NULL, message = NULL, ended_at = NULL, started_at = coalesce(s.started_at, $4)`,
      [this.#now()],
    );
  }

  async #end(step: StepRow): Promise<void> {
    await this.#flush();
    await this.#updateStep(step, `state = 'done', ended_at = $4`, [this.#now()]);
    if (this.#job.tries === 0) return;
    this.#job.tries = 0;
    await this.#update(`UPDATE node_jobs SET tries = 0 WHERE ${IS_OURS}`);
  }

  async #fail(fault: NodeStepFault, message: string): Promise<void> {
    await this.#flush();
    if (this.#step)
      await this.#updateStep(this.#step, `state = 'failed', fault = $4, message = $5, ended_at = $6`, [
        fault,
        message.slice(0, 1000),
        this.#now(),
      ]);
    await this.#update(`UPDATE node_jobs SET state = 'failed', ended_at = $3, ${RELEASE_LEASE} WHERE ${IS_OURS}`, [
      this.#now(),
    ]);
  }

  #updateStep({ position }: StepRow, assignments: string, values: unknown[]): Promise<void> {
    return this.#update(
      `UPDATE node_job_steps s SET ${assignments} FROM node_jobs j
       WHERE j.id = s.job_id AND s.job_id = $1 AND j.claimed_by = $2 AND j.state = 'processing' AND s.position = $3`,
      [position, ...values],
    );
  }

  /** Throws when the lease is lost. $1 is the job, $2 the claim. */
  async #update(text: string, values: unknown[] = []): Promise<void> {
    const { rowCount } = await this.#here.pool.query(text, [this.#job.id, this.#job.claim, ...values]);
    if (rowCount === 1) return;
    this.#lost.abort();
    throw new LeaseLostError();
  }
}

/** A machine reached before may be restarting: first unreachable, then refusing some users. */
const mayReturn = (error: unknown, { tries }: ClaimedJob, { name }: StepRow): error is StepFailure =>
  error instanceof StepFailure &&
  ((error.fault === 'unreachable' && (tries > 0 || name !== 'connect')) ||
    (error.fault === 'credentials' && tries > 0));

/** After success the SSH credentials are deleted, unless they are to be kept. */
async function finish(here: Installation, { id, nodeId, kind, keepSsh, claim }: ClaimedJob, at: Date): Promise<void> {
  await here.db.$transaction(async (tx) => {
    const ended = { state: 'completed', endedAt: at, claimedBy: null, claimedUntil: null };
    const { count } = await tx.nodeJob.updateMany({
      where: { id, claimedBy: claim, state: 'processing' },
      data: ended,
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
  if (kind === 'uninstall') await linkOf(here)?.revoke();
}

async function targetOf(
  { pool, env, secrets }: Installation,
  { nodeId }: ClaimedJob,
): Promise<{ target: Target; login: Login }> {
  const row = await findTarget(pool, nodeId);
  if (!row) throw new StepFailure('unreachable', 'the node was removed');
  const { user, sshPort, passwordSealed, keySealed, fingerprint, ...target } = row;
  if (user === null || sshPort === null || (passwordSealed === null && keySealed === null))
    throw new StepFailure('noCredentials', 'neither a password nor a key is stored for this node');
  // The address comes from an operator, so the outbound policy applies.
  const fault = nodeFault(row.ip, env);
  if (fault) throw new StepFailure('unreachable', `${row.ip}: ${fault}`);
  return {
    target,
    login: {
      host: row.ip,
      port: sshPort,
      user,
      password: passwordSealed === null ? null : secrets.open(passwordSealed, contexts.nodePassword(nodeId)),
      privateKey: keySealed === null ? null : secrets.open(keySealed, contexts.nodePrivateKey(nodeId)),
      fingerprint,
    },
  };
}

export const firstSteps = (kind: NodeJobKind) => stepsOf[kind].map((name, position) => ({ name, position }));
