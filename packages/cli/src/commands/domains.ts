import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { asciiName } from '@edgeloom/contract/common/net.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import {
  assertNoPositionals,
  CommandError,
  confirm,
  jsonOption,
  readArguments,
  siteOption,
  UsageError,
  yesOption,
  type Command,
} from '../command.ts';
import { parseOrigin } from '../origin.ts';
import { allRows, openSiteSession, type Session } from '../session.ts';
import { findSite } from '../sites.ts';
import { table } from '../terminal.ts';

export type DomainRow = Received<typeof domains.list>['data'][number];

export const listDomains = ({ call }: Pick<Session, 'call'>, siteId: string): Promise<DomainRow[]> =>
  allRows((page) => call(domains.list, { params: { siteId }, query: { ...page, sortBy: 'name' } }));

/** The API stores names of other scripts as they are in DNS. */
const storedName = (name: string) => asciiName(name.toLowerCase());

/** Names that the domains' DNS records point to. Without a name the site's zone is not served yet. */
async function cnamesOf({ call }: Session, siteId: string) {
  const rows = await allRows((page) =>
    call(domains.simple, { params: { siteId }, query: { ...page, sortBy: 'name' } }),
  );
  return new Map(rows.map(({ name, cname }) => [name, cname]));
}

export const list: Command = {
  usage: '[--site SITE] [--json]',
  summary: 'list the domains of a site',
  async run(terminal, args) {
    const { values, positionals } = readArguments(args, { ...siteOption, ...jsonOption });
    assertNoPositionals(positionals);
    const session = await openSiteSession(terminal);
    const site = await findSite(session, values.site);
    const rows = await listDomains(session, site.id);
    if (values.json) return rows.forEach((row) => terminal.print(JSON.stringify(row)));
    const cnames = await cnamesOf(session, site.id);
    const lines = rows.map(({ name, status, cnameStatus, certStatus, upstreams }) => [
      name,
      status === 1 ? 'on' : 'off',
      cnames.get(name) ?? '-',
      cnameStatus,
      certStatus,
      upstreams
        .map(({ address, port }) => (address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`))
        .join(' '),
    ]);
    table([['NAME', 'STATE', 'CNAME', 'DNS', 'CERTIFICATE', 'ORIGINS'], ...lines]).forEach(terminal.print);
  },
};

export const waitingLine = (name: string) =>
  `${name} is off until a TXT record verifies it. The console shows the record.`;

export const add: Command = {
  usage: 'NAME… --origin ADDRESS[:PORT]… [--scheme http|https|follow] [--site SITE]',
  summary: 'add domains with their origins',
  async run(terminal, args) {
    const options = { ...siteOption, origin: { type: 'string', multiple: true }, scheme: { type: 'string' } } as const;
    const { values, positionals: names } = readArguments(args, options);
    if (names.length === 0) throw new UsageError('The name of a domain is missing.');
    if (values.origin === undefined) throw new UsageError('--origin is missing.');
    const scheme = schemeOf(values.scheme ?? 'http');
    const upstreams = values.origin.map((origin) => parseOrigin(origin, scheme));
    const session = await openSiteSession(terminal);
    const site = await findSite(session, values.site);
    const params = { siteId: site.id };
    const { waiting } = await session.call(domains.createSimple, { params, body: { names, upstreams, scheme } });
    const cnames = await cnamesOf(session, site.id);
    for (const name of names) {
      const target = cnames.get(storedName(name));
      terminal.print(`Added ${name}${target ? `. Its CNAME record is to point to ${target}` : ''}.`);
    }
    waiting.map(waitingLine).forEach(terminal.print);
  },
};

function schemeOf(text: string) {
  if (text === 'http' || text === 'https' || text === 'follow') return text;
  throw new UsageError(`--scheme is http, https or follow, and not ${text}.`);
}

export const remove: Command = {
  usage: 'NAME… [--site SITE] [--yes]',
  summary: 'turn domains off and remove them',
  async run(terminal, args) {
    const { values, positionals } = readArguments(args, { ...siteOption, ...yesOption });
    const names = new Set(positionals.map(storedName));
    if (names.size === 0) throw new UsageError('The name of a domain is missing.');
    const session = await openSiteSession(terminal);
    const site = await findSite(session, values.site);
    const rows = (await listDomains(session, site.id)).filter(({ name }) => names.has(name));
    const missing = [...names].filter((wanted) => !rows.some(({ name }) => name === wanted));
    if (missing.length > 0) throw new CommandError(`The site ${site.name} has no domain ${missing.join(', ')}.`);
    await confirm(terminal, `Remove ${[...names].join(', ')} from ${site.name}?`, values.yes);
    const ids = rows.map(({ id }) => id);
    await session.call(domains.remove, { params: { siteId: site.id }, body: { ids, disable: true } });
    for (const name of names) terminal.print(`Removed ${name}.`);
  },
};
