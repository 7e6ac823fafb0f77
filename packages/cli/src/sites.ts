import { isId } from '@edgeloom/contract/common/common.ts';
import { sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { CommandError } from './command.ts';
import { allRows, type Session } from './session.ts';

export interface SiteName {
  id: string;
  name: string;
}

/** How many sites a message names. */
const NAMED_SITES = 20;

/** The site with this name or id. Without one: the only site of the account. */
export async function findSite({ call }: Session, wanted: string | undefined): Promise<SiteName> {
  const query = wanted === undefined ? {} : isId(wanted) ? { ids: [wanted] } : { keyword: wanted };
  const found = await allRows((page) => call(sites.meta, { query: { ...query, ...page } }));
  const matches = found.filter(({ id, name }) => wanted === undefined || wanted === id || wanted === name);
  const [site, ...others] = matches;
  if (site !== undefined && others.length === 0) return site;
  if (site === undefined) throw new CommandError(wanted === undefined ? 'You have no site.' : `No site ${wanted}.`);
  const lines = matches.slice(0, NAMED_SITES).map(({ id, name }) => `  ${name}  ${id}`);
  throw new CommandError('Several sites match. Choose one with --site NAME or --site ID:', { lines });
}
