// The file that describes a site: YAML, of which JSON is a part. Sections have the fields of the API's calls.
import { CacheRuleInput } from '@edgeloom/contract/cache/cache.ts';
import { Text } from '@edgeloom/contract/common/common.ts';
import { DomainNameInput } from '@edgeloom/contract/common/net.ts';
import { strictBody } from '@edgeloom/contract/common/strict-body.ts';
import { DomainInput } from '@edgeloom/contract/domains/domains.ts';
import { ErrorPageInput } from '@edgeloom/contract/error-pages/error-pages.ts';
import { ModuleName } from '@edgeloom/contract/modules/modules.ts';
import { RedirectInput, REDIRECTS_OF_A_SITE } from '@edgeloom/contract/modules/redirects.ts';
import { parse } from 'yaml';
import * as z from 'zod';
import { CommandError } from '../command.ts';

/** A module of redirects, with the domains that have it. */
const Redirects = z.object({
  name: ModuleName,
  domains: z.union([z.literal('all'), z.array(DomainNameInput)]).default('all'),
  rules: z.array(RedirectInput).max(REDIRECTS_OF_A_SITE),
});

/** A file says the same for every product, so a domain is on unless it says otherwise. */
const FileDomain = DomainInput.extend({ enabled: z.boolean().default(true) });
export type FileDomain = z.output<typeof FileDomain>;

/** A section that is left out is not touched. One that is there is complete: the site loses what it does not name. */
const SiteFile = z.object({
  site: Text.optional(),
  domains: z.array(FileDomain).max(1000).optional(),
  cacheRules: z.array(CacheRuleInput).max(1000).optional(),
  redirects: z.array(Redirects).max(100).optional(),
  errorPages: z.array(ErrorPageInput).optional(),
});
export type SiteFile = z.output<typeof SiteFile>;

const StrictSiteFile = strictBody(SiteFile);
/** Distance of the priorities of cache rules that have none in the file. */
const PRIORITY_STEP = 10;

export function parseSiteFile(text: string, name: string): SiteFile {
  const content = withPriorities(parseYaml(text, name));
  const strict = z.safeParse(StrictSiteFile, content);
  if (!strict.success) {
    const lines = strict.error.issues.map((issue) => `  ${placeOf(issue)}: ${reasonOf(issue)}`);
    throw new CommandError(`${name} is not valid:`, { lines });
  }
  const file = SiteFile.parse(content);
  assertUnique(file, name);
  return file;
}

function parseYaml(text: string, name: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    const lines = (error instanceof Error ? error.message : String(error)).split('\n');
    throw new CommandError(`${name} is not YAML:`, { lines, cause: error });
  }
}

const CacheRules = z.looseObject({ cacheRules: z.array(z.record(z.string(), z.unknown())) });

/** Rules without a priority keep the order of the file. */
function withPriorities(content: unknown): unknown {
  const parsed = CacheRules.safeParse(content);
  if (!parsed.success) return content;
  const cacheRules = parsed.data.cacheRules.map((rule, i) => ({ priority: (i + 1) * PRIORITY_STEP, ...rule }));
  return { ...parsed.data, cacheRules };
}

const placeOf = (issue: z.core.$ZodIssue) => issue.path.map(String).join('.') || 'the file';
const reasonOf = (issue: z.core.$ZodIssue) =>
  issue.code === 'unrecognized_keys' ? `unknown field ${issue.keys.join(', ')}` : issue.message;

function assertUnique({ domains = [], redirects = [], errorPages = [] }: SiteFile, name: string): void {
  const everywhere = redirects.filter((module) => module.domains === 'all');
  const named = redirects.flatMap((module) => (module.domains === 'all' ? [] : module.domains));
  const lines = [
    ...twiceIn(domains.map((domain) => domain.name)).map((twice) => `  domains: ${twice} is there twice`),
    ...twiceIn(redirects.map((module) => module.name)).map((twice) => `  redirects: ${twice} is there twice`),
    ...twiceIn(errorPages.map(({ code }) => String(code))).map((twice) => `  errorPages: ${twice} is there twice`),
    ...twiceIn(named).map((twice) => `  redirects: the domain ${twice} can have one module only`),
    ...(everywhere.length > 0 && redirects.length > 1
      ? ['  redirects: a module for all domains leaves none for the others. List the domains of each module.']
      : []),
    ...redirects.flatMap((module) =>
      twiceIn(module.rules.map(({ type, source }) => `${type} ${source}`)).map(
        (twice) => `  redirects: ${module.name} has ${twice} twice`,
      ),
    ),
  ];
  if (lines.length > 0) throw new CommandError(`${name} is not valid:`, { lines });
}

const twiceIn = (list: readonly string[]): string[] => [...new Set(list.filter((item, i) => list.indexOf(item) !== i))];
