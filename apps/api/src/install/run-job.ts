// Continues a job from its first unfinished step. All state is stored, so any process can resume it after a crash or a
// broken connection.
import { randomUUIDv7 } from 'node:crypto';
import { setInterval } from 'node:timers';
import { stripVTControlCharacters } from 'node:util';
import type { NodeJobKind, NodeStep, NodeStepFault } from '@edgeloom/contract/node-jobs/node-jobs.ts';
import type { Pool } from 'pg';
import type { Installation } from '../core/installation.ts';
import { nodeFault } from '../core/outbound.ts';
import { contexts } from '../core/secrets.ts';
import type { System } from './artifacts.ts';
import { linkOf } from '../node-link/start.ts';
import { ConnectionBroken, connectTo, StepFailure, type Host, type Login } from './host.ts';
import { carryOut, stepsOf } from './steps.ts';
import { findTarget, type Target } from './target.ts';

const LEASE = `interval '15 seconds'`;
const RENEW_MS = 3000;
const FLUSH_MS = 150;
/** Stored output per step. */
const MOST_OUTPUT = 262_144;
const TRIES = 8;
const FIRST_WAIT_S = 1;
const LONGEST_WAIT_S = 30;

/** Another process holds the job, or a person cancelled it. */
class ClaimLost extends Error {}

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
    `UPDATE node_jobs SET state = 'processing', claimed_by = $1, claimed_until = now() + ${LEASE}
     WHERE id = (SELECT id FROM node_jobs WHERE state IN ('waiting', 'processing') AND due_at <= $2
                   AND (claimed_until IS NULL OR claimed_until < now())
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

export async function runJob(
  here: Installation,
  job: ClaimedJob,
  now: () => Date,
  stopping: AbortSignal,
): Promise<void> {
  const { pool } = here;
  const lost = new AbortController();
  const signal = AbortSignal.any([stopping, lost.signal]);
  const mine = async (text: string, values: unknown[] = []) => {
    const { rowCount } = await pool.query(text, [job.id, job.claim, ...values]);
    if (rowCount !== 1) {
      lost.abort();
      throw new ClaimLost();
    }
  };
  const keeping = setInterval(() => {
    mine(
      `UPDATE node_jobs SET claimed_until = now() + ${LEASE} WHERE id = $1 AND claimed_by = $2 AND state = 'processing'`,
    ).catch(() => undefined);
  }, RENEW_MS);
  const own = `FROM node_jobs j WHERE j.id = s.job_id AND s.job_id = $1 AND j.claimed_by = $2 AND j.state = 'processing'`;

  const { rows: steps } = await pool.query<StepRow>(
    `SELECT position, name, state FROM node_job_steps WHERE job_id = $1 ORDER BY position`,
    [job.id],
  );
  const hidden = new Set<string>();
  let pending = '';
  let at: StepRow | undefined;
  const say = (line: string) => {
    let text = line;
    for (const secret of hidden) text = text.replaceAll(secret, '•••');
    // PostgreSQL stores no NUL. Terminal control sequences are removed.
    pending += `${stripVTControlCharacters(text).replace(/[^\P{Cc}\t]/gu, '')}\n`;
  };
  const flush = async () => {
    if (pending === '' || !at) return;
    const text = pending;
    pending = '';
    await mine(
      `UPDATE node_job_steps s SET output = CASE WHEN length(s.output) >= ${MOST_OUTPUT} THEN s.output
         ELSE left(s.output || $4, ${MOST_OUTPUT}) END ${own} AND s.position = $3`,
      [at.position, text],
    );
  };
  const flushing = setInterval(() => {
    flush().catch(() => undefined);
  }, FLUSH_MS);

  const begin = async (step: StepRow) => {
    at = step;
    await mine(
      `UPDATE node_job_steps s SET state = 'running', fault = NULL, message = NULL, ended_at = NULL,
         started_at = coalesce(s.started_at, $4) ${own} AND s.position = $3`,
      [step.position, now()],
    );
  };
  const done = async (step: StepRow) => {
    await flush();
    await mine(`UPDATE node_job_steps s SET state = 'done', ended_at = $4 ${own} AND s.position = $3`, [
      step.position,
      now(),
    ]);
  };
  const failed = async (fault: NodeStepFault, message: string) => {
    await flush();
    if (at)
      await mine(
        `UPDATE node_job_steps s SET state = 'failed', fault = $4, message = $5, ended_at = $6 ${own} AND s.position = $3`,
        [at.position, fault, message.slice(0, 1000), now()],
      );
    await mine(
      `UPDATE node_jobs SET state = 'failed', ended_at = $3, claimed_by = NULL, claimed_until = NULL
       WHERE id = $1 AND claimed_by = $2 AND state = 'processing'`,
      [now()],
    );
  };

  let host: Host | null = null;
  try {
    const open = steps.filter(({ state }) => state !== 'done');
    const [first] = open;
    if (first) {
      await begin(first);
      const { target, login } = await targetOf(here, job);
      if (login.password !== null) hidden.add(login.password);
      host = await connectTo(login, { say, signal }).catch((error: unknown) => {
        throw mayReturn(error, job, first) ? new ConnectionBroken(error.message) : error;
      });
      say(
        first.name === 'connect'
          ? `connected as ${login.user}; the machine shows ${host.fingerprint}`
          : '… connected again',
      );
      await mine(`UPDATE node_jobs SET fingerprint = $3 WHERE id = $1 AND claimed_by = $2 AND state = 'processing'`, [
        host.fingerprint,
      ]);
      // From now on the host key must match.
      if (login.fingerprint === null)
        await pool.query(`UPDATE nodes SET ssh_fingerprint = $2 WHERE id = $1 AND ssh_fingerprint IS NULL`, [
          target.id,
          host.fingerprint,
        ]);
      let { system } = job;
      for (const step of open) {
        if (step !== first) await begin(step);
        await carryOut(step.name, {
          here,
          target,
          host,
          system,
          say,
          now,
          signal,
          hide: (secret) => hidden.add(secret),
          async learn(found) {
            system = found;
            await mine(`UPDATE node_jobs SET system = $3 WHERE id = $1 AND claimed_by = $2 AND state = 'processing'`, [
              JSON.stringify(found),
            ]);
          },
        });
        await done(step);
        if (job.tries > 0) {
          job.tries = 0;
          await mine(`UPDATE node_jobs SET tries = 0 WHERE id = $1 AND claimed_by = $2 AND state = 'processing'`);
        }
      }
    }
    await finish(here, job, now());
  } catch (error) {
    if (error instanceof ClaimLost || lost.signal.aborted) return;
    if (stopping.aborted) {
      // Releases the lease, so that another process can resume at once.
      await pool.query(
        `UPDATE node_jobs SET claimed_until = NULL, claimed_by = NULL WHERE id = $1 AND claimed_by = $2`,
        [job.id, job.claim],
      );
      return;
    }
    if (error instanceof StepFailure) return await failed(error.fault, error.message);
    if (!(error instanceof ConnectionBroken)) throw error;
    const why = error.message === '' ? '' : ` (${error.message})`;
    if (job.tries + 1 >= TRIES) return await failed('broken', `the connection broke ${TRIES} times${why}`);
    const wait = Math.min(FIRST_WAIT_S * 2 ** job.tries, LONGEST_WAIT_S);
    say(`… the connection broke${why}; again in ${wait} s`);
    await flush();
    await mine(
      `UPDATE node_jobs SET state = 'waiting', tries = tries + 1, due_at = $3, claimed_by = NULL, claimed_until = NULL
       WHERE id = $1 AND claimed_by = $2 AND state = 'processing'`,
      [new Date(now().getTime() + wait * 1000)],
    );
  } finally {
    clearInterval(keeping);
    clearInterval(flushing);
    host?.close();
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
    if (count !== 1) throw new ClaimLost();
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
