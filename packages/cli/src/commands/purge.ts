import { purge as purges } from '@edgeloom/contract/purge/purge.endpoints.ts';
import type { PurgeInput } from '@edgeloom/contract/purge/purge.ts';
import { readArguments, siteOption, UsageError, type Command } from '../command.ts';
import { openSiteSession } from '../session.ts';
import { findSite } from '../sites.ts';

const kinds = ['all', 'prefix', 'host', 'tag'] as const;
const types: Readonly<Record<Exclude<(typeof kinds)[number], 'all'> | 'url', PurgeInput['type']>> = {
  url: 1,
  prefix: 2,
  host: 3,
  tag: 4,
};

export const purge: Command = {
  usage: 'URL… | --prefix URL… | --host NAME… | --tag TAG… | --all  [--soft] [--site SITE]',
  summary: 'remove responses from the caches of all nodes (--soft: revalidate them instead)',
  async run(terminal, args) {
    const flag = { type: 'boolean', default: false } as const;
    const options = { ...siteOption, all: flag, prefix: flag, host: flag, tag: flag, soft: flag };
    const { values, positionals: urls } = readArguments(args, options);
    const [kind = 'url', second] = kinds.filter((name) => values[name]);
    if (second !== undefined) throw new UsageError(`Only one of ${kinds.map((name) => `--${name}`).join(', ')}.`);
    if (kind === 'all' ? urls.length > 0 : urls.length === 0)
      throw new UsageError(kind === 'all' ? 'Either --all or URLs.' : 'What to purge is missing.');
    const session = await openSiteSession(terminal);
    const site = await findSite(session, values.site);
    const params = { siteId: site.id };
    const { soft } = values;
    const { jobID } =
      kind === 'all'
        ? await session.call(purges.all, { params, query: { soft } })
        : await session.call(purges.urls, { params, body: { type: types[kind], urls, soft } });
    terminal.print(`The nodes of ${site.name} are purging. Job ${jobID}`);
  },
};
