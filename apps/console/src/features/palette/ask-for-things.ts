import { lastZone } from '../../stores/session.ts';
import { askedKinds, nothing, type Chosen, type Kind, type Thing } from './inner-creations.ts';
import type { Tools } from './use-tools.ts';

/** Asks for the objects that are not open, in order, then continues with all of them. */
export function askForThings(
  tools: Pick<Tools, 'ask'>,
  asks: readonly Kind[],
  chosen: Partial<Chosen>,
  then: (chosen: Chosen) => unknown,
): unknown {
  const missing = asks.find((kind) => chosen[kind] === undefined);
  const found = { ...nothing, ...chosen };
  if (missing === undefined) return then(found);
  const { params, ...question } = askedKinds[missing];
  return tools.ask({
    ...question,
    ...(params && { params: params(found) }),
    onPick: (thing) => askForThings(tools, asks, { ...chosen, [missing]: thing }, then),
  });
}

/** The objects of the current URL. */
export function openThings(site: Thing | null): Partial<Chosen> {
  const { pathname, search } = location;
  const query = new URLSearchParams(search);
  const zone =
    /zonesList\/([^/]+)$/.exec(pathname)?.[1] ?? (isBoard(pathname) ? (query.get('zone') ?? lastZone.get()) : null);
  const node = /nodesList\/([\da-f-]{36})$/.exec(pathname)?.[1];
  const domain = /sitesSetting\/[^/]+\/[^/]+\/([^/]+)$/.exec(pathname)?.[1];
  const module = query.get('view') === 'redirects' ? query.get('module') : null;
  const named = (kind: Kind, id: string | null | undefined) => (id == null ? {} : { [kind]: { id, name: id } });
  return {
    ...(site && { site }),
    ...named('zone', zone),
    ...named('node', node),
    ...named('domain', domain && decodeURIComponent(domain)),
    ...named('redirectModule', module),
  };
}
const isBoard = (pathname: string) => /\/nodeManage\/(resolutionTitle|vNode)$/.test(pathname);
