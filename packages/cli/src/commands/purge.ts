import { setTimeout } from 'node:timers/promises';
import { jobs } from '@edgeloom/contract/jobs/jobs.endpoints.ts';
import { purge as purges } from '@edgeloom/contract/purge/purge.endpoints.ts';
import type { PurgeInput } from '@edgeloom/contract/purge/purge.ts';
import { readArguments, siteOption, UsageError, type Command } from '../command.ts';
import { isTemporary, openSiteSession, RECONNECTING, type Session } from '../session.ts';
import { findSite } from '../sites.ts';
import type { Terminal } from '../terminal.ts';

const POLL_INTERVAL_MS = 1000;

const kinds = ['all', 'prefix', 'host', 'tag'] as const;
const types: Readonly<Record<Exclude<(typeof kinds)[number], 'all'> | 'url', PurgeInput['type']>> = {
  url: 1,
  prefix: 2,
  host: 3,
  tag: 4,
};

export const purge: Command = {
  usage: 'URL… | --prefix URL… | --host NAME… | --tag TAG… | --all  [--soft] [--wait SECONDS] [--site SITE]',
  summary:
    'remove responses from the caches of all nodes (--soft: revalidate them instead; --wait: until the nodes have done it)',
  async run(terminal, args) {
    const flag = { type: 'boolean', default: false } as const;
    const options = {
      ...siteOption,
      all: flag,
      prefix: flag,
      host: flag,
      tag: flag,
      soft: flag,
      wait: { type: 'string' },
    } as const;
    const { values, positionals: urls } = readArguments(args, options);
    const [kind = 'url', second] = kinds.filter((name) => values[name]);
    if (second !== undefined) throw new UsageError(`Only one of ${kinds.map((name) => `--${name}`).join(', ')}.`);
    if (kind === 'all' ? urls.length > 0 : urls.length === 0)
      throw new UsageError(kind === 'all' ? 'Either --all or URLs.' : 'What to purge is missing.');
    const waitSeconds = values.wait === undefined ? null : secondsOf(values.wait);
    const session = await openSiteSession(terminal);
    const site = await findSite(session, values.site);
    const params = { siteId: site.id };
    const { soft } = values;
    const { jobID } =
      kind === 'all'
        ? await session.call(purges.all, { params, query: { soft } })
        : await session.call(purges.urls, { params, body: { type: types[kind], urls, soft } });
    terminal.print(`The nodes of ${site.name} are purging. Job ${jobID}`);
    return waitSeconds === null ? 0 : waitForNodes(terminal, session, { ...params, jobID }, waitSeconds);
  },
};

function secondsOf(text: string): number {
  if (!/^\d{1,5}$/.test(text)) throw new UsageError(`--wait is a number of seconds, and not ${text}.`);
  return Number(text);
}

/** Returns 1 unless all nodes have purged. A node that is offline purges when it returns. */
async function waitForNodes(
  terminal: Terminal,
  { call }: Session,
  params: { siteId: string; jobID: string },
  seconds: number,
): Promise<number> {
  const deadline = performance.now() + seconds * 1000;
  let isBroken = false;
  for (;;) {
    const isLast = performance.now() >= deadline;
    const job = await call(jobs.get, { params }).catch((error: unknown) => {
      if (isLast || !isTemporary(error)) throw error;
      if (!isBroken) terminal.printError(RECONNECTING);
      isBroken = true;
      return null;
    });
    if (job === null || (job.state === 'processing' && !isLast)) {
      await setTimeout(POLL_INTERVAL_MS);
      continue;
    }
    const { state, receipts } = job;
    const unfinished = receipts.filter((receipt) => receipt.state !== 'done');
    terminal.print(`${receipts.length - unfinished.length} of ${receipts.length} nodes have purged.`);
    for (const { nodeName, error } of unfinished)
      terminal.printError(`  ${nodeName || 'a node'}: ${error ?? 'has not answered yet'}`);
    return state === 'completed' ? 0 : 1;
  }
}
