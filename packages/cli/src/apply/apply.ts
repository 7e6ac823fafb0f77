// Makes a site what a file says: reads the site, plans the calls, shows the plan, and sends them.
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import {
  assertNoPositionals,
  CommandError,
  confirm,
  readArguments,
  siteOption,
  UsageError,
  yesOption,
  type Command,
} from '../command.ts';
import { listDomains } from '../commands/domains.ts';
import { openSiteSession } from '../session.ts';
import { findSite } from '../sites.ts';
import type { Terminal } from '../terminal.ts';
import { planCacheRules } from './cache-rules-section.ts';
import type { ApplyContext } from './context.ts';
import { planDomains } from './domains-section.ts';
import { planErrorPages } from './error-pages-section.ts';
import { planLines, type PlannedSection } from './plan.ts';
import { planRedirects } from './redirects-section.ts';
import { parseSiteFile, type SiteFile } from './site-file.ts';

/** Exit status of `--check` when the site differs from the file. */
const DIFFERS = 2;

export const apply: Command = {
  usage: '-f FILE [--site SITE] [--dry-run | --check] [--yes]',
  summary: 'make a site what a file says, after showing the changes (--check: exit status 2 if there are any)',
  async run(terminal, args) {
    const flag = { type: 'boolean', default: false } as const;
    const options = {
      ...siteOption,
      ...yesOption,
      file: { type: 'string', short: 'f' },
      'dry-run': flag,
      check: flag,
    } as const;
    const { values, positionals } = readArguments(args, options);
    assertNoPositionals(positionals);
    if (values.file === undefined) throw new UsageError('-f FILE is missing. - is standard input.');
    if (values.file === '-' && terminal.isInteractive) terminal.printError('Reading standard input …');
    const fileName = values.file === '-' ? 'Standard input' : values.file;
    const file = parseSiteFile(await readSource(terminal, values.file), fileName);
    const session = await openSiteSession(terminal);
    const site = await findSite(session, values.site ?? file.site);
    const context = { call: session.call, params: { siteId: site.id }, options: { actionId: randomUUID() } };
    const sections = await plan(context, file);
    terminal.print(`Site ${site.name} (${site.id})`);
    planLines(sections).forEach(terminal.print);
    const isChanged = sections.some(({ changes }) => changes.length > 0);
    if (values.check) return isChanged ? DIFFERS : 0;
    if (!isChanged || values['dry-run']) return 0;
    await confirm(terminal, `Change ${site.name}?`, values.yes);
    // The question may have waited for hours.
    const latest = values.yes ? sections : await plan(context, file);
    if (!isDeepStrictEqual(differencesOf(latest), differencesOf(sections)))
      throw new CommandError('Nothing was changed, because the site has changed meanwhile. Run the command again.');
    await send(terminal, latest);
  },
};

const differencesOf = (sections: readonly PlannedSection[]) => sections.map(({ difference }) => difference);

async function readSource(terminal: Terminal, file: string): Promise<string> {
  if (file === '-') return terminal.readInput();
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

async function plan(context: ApplyContext, file: SiteFile): Promise<PlannedSection[]> {
  const sections: PlannedSection[] = [];
  if (file.domains) sections.push(await planDomains(context, file.domains));
  if (file.cacheRules) sections.push(await planCacheRules(context, file.cacheRules));
  if (file.redirects) {
    const rows = file.domains ?? (await listDomains(context, context.params.siteId));
    const names = rows.map(({ name }) => name);
    assertKnown(file.redirects, names);
    sections.push(await planRedirects(context, file.redirects, names));
  }
  if (file.errorPages) sections.push(await planErrorPages(context, file.errorPages));
  return sections;
}

function assertKnown(redirects: NonNullable<SiteFile['redirects']>, names: readonly string[]): void {
  const named = redirects.flatMap(({ domains }) => (domains === 'all' ? [] : domains));
  const lines = named.filter((name) => !names.includes(name)).map((name) => `  ${name}`);
  if (lines.length > 0) throw new CommandError('Redirects are for domains that the site does not have:', { lines });
}

/** Sections that were sent stay. The next run plans what is missing. */
async function send(terminal: Terminal, sections: readonly PlannedSection[]): Promise<void> {
  const changed = sections.filter(({ changes }) => changes.length > 0);
  const deferred = changed.flatMap((section) => section.deferred ?? []);
  for (const { title, send } of [...changed, ...deferred]) {
    let lines: readonly string[];
    try {
      lines = (await send()) ?? [];
    } catch (error) {
      terminal.printError(`${title}: not all changes were made. Run the command again after the error is corrected.`);
      throw error;
    }
    terminal.print(`${title}: done.`);
    lines.forEach(terminal.print);
  }
}
