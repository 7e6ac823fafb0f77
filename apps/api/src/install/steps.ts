// The steps of installing and removing a node. Each checks first and can be repeated.
import { createReadStream } from 'node:fs';
import path from 'node:path';
import { request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { installSteps, type NodeJobKind, type NodeStep } from '@edgeloom/contract/node-jobs/node-jobs.ts';
import type { Pool } from 'pg';
import type { Installation } from '../core/installation.ts';
import { packagesOf, releaseOf, runtimeOf, serverOf, type System } from './artifacts.ts';
import { releaseKeys } from '../releases/store.ts';
import { StepFailure, type Host } from './host.ts';
import { newJoin, refuseAnother } from './new-join.ts';
import { controlOf } from './pull.ts';
import * as scripts from './scripts.ts';
import { plainPorts, portsOf, type Target } from './target.ts';

export interface StepWork {
  installation: Installation;
  target: Target;
  host: Host;
  system: System | null;
  say: (line: string) => void;
  now: () => Date;
  signal: AbortSignal;
  /** Redacts a secret in the output. */
  hide: (secret: string) => void;
  learn: (system: System) => Promise<void>;
}
type Step = (work: StepWork) => Promise<unknown>;

const detect: Step = async ({ host, learn }) => {
  const [id = '', version = '', arch = ''] = resultOf(await host.run(scripts.detect), 'system').split(' ');
  const system = { id, version, arch };
  packagesOf(system);
  await learn(system);
};

const known = ({ system }: StepWork): System => {
  if (!system) throw new StepFailure('unsupported', 'nobody has looked what it is');
  return system;
};

const check: Step = async ({ host, target, say, now }) => {
  const before = now().getTime();
  const theirs = Number(resultOf(await host.run(scripts.clock), 'now')) * 1000;
  const after = now().getTime();
  // In whole seconds, between the request and its response.
  const skew = theirs + 1000 < before ? (theirs + 1000 - before) / 1000 : theirs > after ? (theirs - after) / 1000 : 0;
  say(`clock: ${skew === 0 ? 'right' : `${Math.abs(skew).toFixed(0)} s ${skew > 0 ? 'ahead' : 'behind'}`}`);
  if (Math.abs(skew) > scripts.MAX_SKEW_S)
    throw new StepFailure('clock', `${Math.abs(skew).toFixed(0)} s ${skew > 0 ? 'ahead' : 'behind'}`);
  await host.run(scripts.checkRoom(target.ports.map(({ port }) => port)));
};

const server: Step = async (work) => {
  const system = known(work);
  const { host, installation } = work;
  const wanted = await serverOf(system, installation.env);
  if (wanted.from === 'distribution') return host.run(scripts.debianNginx);
  if (!(await host.run(scripts.openrestyIsInstalled)).includes('::absent')) return;
  if (wanted.from === 'repository') return host.run(scripts.openresty(packagesOf(system), wanted));
  const file = `/var/tmp/${path.basename(wanted.file)}`;
  await host.run(scripts.receiveFile(file), { stdin: createReadStream(wanted.file) });
  return host.run(scripts.openresty(packagesOf(system), { file }));
};

const runtime: Step = async (work) => {
  const { host, installation } = work;
  if (!(await host.run(scripts.runtimeIsInstalled)).includes('::absent')) return;
  const wanted = await runtimeOf(known(work), installation.env);
  if (wanted.from === 'nowhere') throw new StepFailure('artifact', wanted.why);
  if (wanted.from === 'distribution') return host.run(scripts.runtimeOfDistribution);
  return host.run(scripts.unpackRuntime(wanted.compression), { stdin: createReadStream(wanted.file) });
};

const agent: Step = async ({ host, installation }) => {
  const { name, archive, signed } = await releaseOf(installation.env);
  if (!(await host.run(scripts.releaseIsInstalled(name))).includes('::absent')) return;
  await host.run(scripts.unpackRelease(name, signed), { stdin: createReadStream(archive) });
};

const credentials: Step = async ({ host, installation, target, say, hide, now }) => {
  const variables = { EDGELOOM_CONTROL: controlOf(installation.env) };
  const keys = await releaseKeys(installation.env);
  const present = resultOf(await host.run(scripts.identity), 'node');
  if (present === target.id && target.publicKey !== null) {
    say('it is this node already');
    return host.run(scripts.environment(variables, keys));
  }
  await refuseAnother(installation, present, target);
  if (present !== '') await host.run(scripts.forgetNode);
  const token = await newJoin(installation, target.id, now());
  hide(token);
  return host.run(scripts.environment({ ...variables, EDGELOOM_TOKEN: token }, keys));
};

const system: Step = ({ host, target }) => host.run(scripts.system(portsOf(target)));
const start: Step = ({ host }) => host.run(scripts.start);

const SYNC_TIMEOUT_MS = 120_000;
const CHECK_INTERVAL_MS = 300;

interface SyncState {
  joined: boolean;
  revision: number;
  latest: number;
  rejected: unknown[];
  error: string | null;
}

const sync: Step = async ({ host, installation, target, say, signal, now }) => {
  const until = now().getTime() + SYNC_TIMEOUT_MS;
  let lastLine = '';
  for (;;) {
    const { joined, revision, latest, rejected, error } = await readSyncState(installation.pool, target.id);
    const line = joined ? `serial number ${revision} of ${latest}` : 'not joined yet';
    if (line !== lastLine) say(line);
    lastLine = line;
    if (joined && revision >= latest && rejected.length === 0 && error === null) break;
    if (now().getTime() > until) {
      await host.run(scripts.lastLogLines);
      if (!joined)
        throw new StepFailure(
          'join',
          `it has not joined within ${SYNC_TIMEOUT_MS / 1000} s: does it reach the control plane?`,
        );
      throw new StepFailure('sync', error ?? (rejected.length > 0 ? `it refuses ${rejected.length} documents` : line));
    }
    await setTimeout(CHECK_INTERVAL_MS, undefined, { signal });
  }
  await host.run(scripts.forgetToken);
};

async function readSyncState(pool: Pool, nodeId: string): Promise<SyncState> {
  const { rows } = await pool.query<SyncState>(
    `SELECT n.joined_at IS NOT NULL AND s.synced_at IS NOT NULL AS joined, coalesce(s.revision, 0) AS revision,
            z.revision AS latest, coalesce(s.rejected, '[]') AS rejected, s.error
     FROM nodes n JOIN zones z ON z.id = n.zone_id LEFT JOIN node_states s ON s.node_id = n.id WHERE n.id = $1`,
    [nodeId],
  );
  return rows[0] ?? { joined: false, revision: 0, latest: 0, rejected: [], error: 'the node was removed' };
}

const PROBE_TIMEOUT_MS = 10_000;

/** Requests an unknown name like a visitor: the node itself responds. */
const probe: Step = async ({ target, say }) => {
  const plain = plainPorts(target);
  if (plain.length === 0) return say('the zone has no port without TLS and PROXY protocol to look at');
  for (const port of plain) {
    const found = await isOurNode(target.ip, port).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      throw new StepFailure(
        'probe',
        `${target.ip} port ${port} does not answer from here (${reason}): is a firewall before it?`,
      );
    });
    if (!found) throw new StepFailure('probe', `on port ${port} of ${target.ip} answers something else`);
    say(`port ${port} answers`);
  }
};

const isOurNode = (host: string, port: number) =>
  new Promise<boolean>((resolve, reject) => {
    const call = request(
      { host, port, headers: { host: scripts.PROBE_NAME }, timeout: PROBE_TIMEOUT_MS, agent: false },
      (reply) => {
        reply.resume();
        resolve(reply.statusCode === 903 && reply.headers['x-request-id'] !== undefined);
      },
    );
    call.on('timeout', () => call.destroy(new Error('no answer')));
    call.on('error', reject);
    call.end();
  });

const stop: Step = ({ host }) => host.run(scripts.stop);
const remove: Step = ({ host, target }) => host.run(scripts.remove(portsOf(target)));
/** Connecting performs this step. */
const connect: Step = () => Promise.resolve();

const all: Readonly<Record<NodeStep, Step>> = {
  connect,
  detect,
  check,
  server,
  runtime,
  agent,
  credentials,
  system,
  start,
  sync,
  probe,
  stop,
  remove,
};
const stepsOf: Readonly<Record<NodeJobKind, readonly NodeStep[]>> = {
  install: installSteps,
  uninstall: ['connect', 'stop', 'remove'],
};
/** The steps of a new job. */
export const newSteps = (kind: NodeJobKind) => stepsOf[kind].map((name, position) => ({ name, position }));
export const runStep = (step: NodeStep, work: StepWork) => all[step](work);

/** The value of a script's `::<word> …` line. */
function resultOf(output: string, word: string): string {
  const line = output.split('\n').find((text) => text.startsWith(`::${word} `)) ?? `::${word} `;
  return line.slice(word.length + 3).trim();
}
