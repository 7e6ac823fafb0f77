// Create commands: in the console, within a site, and within an opened object.
import { IconPlus } from '@tabler/icons-react';
import { entryAt, type Creation } from '../../components/frame/menu.ts';
import type { SiteInfo } from '../../components/frame/site-scope.ts';
import { to } from '../../lib/family.ts';
import { siteAddress } from '../../lib/site-address.ts';
import { lastSite } from '../../stores/session.ts';
import { askForThings, openThings } from './ask-for-things.ts';
import type { Surroundings } from './entities.ts';
import { askedKinds, innerCreations, type InnerCreation, type Thing } from './inner-creations.ts';
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

  const start = (creation: InnerCreation) =>
    askForThings(tools, creation.asks, openThings(place), (chosen) =>
      tools.create(creation.address(chosen), creation.press?.(chosen)),
    );
  const inner = innerCreations.flatMap((creation) => {
    const { entry, asks, call, title } = creation;
    const found = entry === undefined ? null : entryAt(menu, entry)?.entry;
    const isHere = asks.includes('site') ? views.length > 0 : found !== undefined;
    if (!isHere || !can(call)) return [];
    const detail = asks.includes('site') ? place?.name : found && t(found.title);
    return [item(title, creation, detail ?? '', [], () => start(creation))];
  });
  // Within a site, the site's own commands come first.
  return site ? [...inSite, ...inner, ...inConsole] : [...inConsole, ...inner, ...inSite];
}
