// Create commands: in the console, within a site, and within an opened object.
import { IconPlus } from '@tabler/icons-react';
import { entryAt, type Creation } from '../../components/frame/menu.ts';
import type { SiteInfo } from '../../components/frame/site-scope.ts';
import { to } from '../../lib/family.ts';
import { siteAddress } from '../../lib/site-address.ts';
import { lastSite, lastZone } from '../../stores/session.ts';
import type { Surroundings } from './entities.ts';
import { askedKinds, innerCreations, nothing } from './inner-creations.ts';
import type { Chosen, InnerCreation, Kind, Thing } from './inner-creations.ts';
import type { Item } from './item.ts';
import { nounsOf } from './read-input.ts';

/** The permitted create actions of all pages. */
export function creations({ t, can, menu, views, tools }: Surroundings, site: SiteInfo | null): Item[] {
  const item = (
    id: string,
    { title }: Pick<Creation, 'title'>,
    detail: string,
    more: readonly string[],
    run: () => unknown,
  ): Item => ({
    id: `create ${id}`,
    title: t(title),
    detail,
    icon: IconPlus,
    nouns: nounsOf(t(title)),
    // The page's title is a synonym.
    also: [detail, ...more].join(' '),
    run,
  });
  const place: Thing | null = site ?? lastSite.get();
  const inConsole = menu.flatMap(({ entries }) =>
    entries.flatMap(({ to: path, title, creates }) =>
      creates && can(creates.call)
        ? [
            item(path, creates, t(title), [], () =>
              creates.form === undefined ? tools.create(to(path)) : tools.goTo(to(creates.form)),
            ),
          ]
        : [],
    ),
  );
  const { meta, label } = askedKinds.site;
  const inSite = views.flatMap((group) =>
    group.views.flatMap(({ view, title, creates }) => {
      if (!creates || !can(creates.call)) return [];
      const open = (chosen: Thing) =>
        creates.form === undefined
          ? tools.create(siteAddress(chosen, view))
          : tools.goTo(siteAddress(chosen, view, creates.form));
      const run = () => (place ? open(place) : tools.ask({ meta, label, onPick: open }));
      return [item(`site ${view}`, creates, place?.name ?? t(title), [t(title)], run)];
    }),
  );

  /** Asks for the objects that are not open, then opens the page and presses its buttons. */
  function start(creation: InnerCreation, chosen: Partial<Chosen>): unknown {
    const missing = creation.asks.find((kind) => chosen[kind] === undefined);
    const found = { ...nothing, ...chosen };
    if (missing === undefined) return tools.create(creation.address(found), creation.press?.(found));
    const { params, ...question } = askedKinds[missing];
    return tools.ask({
      ...question,
      ...(params && { params: params(found) }),
      onPick: (thing) => start(creation, { ...chosen, [missing]: thing }),
    });
  }
  const inner = innerCreations.flatMap((creation) => {
    const { entry, asks, call, title } = creation;
    const found = entry === undefined ? null : entryAt(menu, entry)?.entry;
    const isHere = asks.includes('site') ? views.length > 0 : found !== undefined;
    if (!isHere || !can(call)) return [];
    const detail = asks.includes('site') ? place?.name : found && t(found.title);
    return [item(title, creation, detail ?? '', [], () => start(creation, openThings(place)))];
  });
  // Within a site, the site's own commands come first.
  return site ? [...inSite, ...inner, ...inConsole] : [...inConsole, ...inner, ...inSite];
}

/** The objects of the current URL. */
function openThings(site: Thing | null): Partial<Chosen> {
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
