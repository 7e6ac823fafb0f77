// Create commands: in the console, within a site, within a zone.
import { sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { IconPlus } from '@tabler/icons-react';
import type { Creation } from '../../components/frame/menu.ts';
import type { SiteInfo } from '../../components/frame/site-scope.ts';
import { to } from '../../lib/family.ts';
import { siteAddress } from '../../lib/site-address.ts';
import { lastSite } from '../../stores/session.ts';
import type { Surroundings } from './entities.ts';
import type { Item } from './item.ts';
import { nounsOf } from './read-input.ts';

interface Thing {
  id: string;
  name: string;
}

/** The permitted create actions of all pages. */
export function creations({ t, can, menu, views, tools }: Surroundings, site: SiteInfo | null): Item[] {
  const item = (
    id: string,
    { title }: Creation,
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
  const inConsole = menu.flatMap(({ entries }) =>
    entries.flatMap(({ to: path, title, creates, within }) => [
      ...(creates && can(creates.call)
        ? [
            item(path, creates, t(title), [], () =>
              creates.form === undefined ? tools.create(to(path)) : tools.goTo(to(creates.form)),
            ),
          ]
        : []),
      ...(within && can(within.meta)
        ? within.tabs
            .filter(({ creates: made }) => can(made.call))
            .map(({ tab, creates: made }) => {
              const open = ({ id }: Thing) => tools.create(`${to(path)}/${id}?tab=${tab}`);
              const current = new RegExp(`${path}/([^/]+)$`).exec(location.pathname)?.[1];
              return item(`${path} ${tab}`, made, t(title), [], () =>
                current === undefined ? tools.ask(within.meta, within.title, open) : open({ id: current, name: '' }),
              );
            })
        : []),
    ]),
  );
  const inSite = views.flatMap((group) =>
    group.views.flatMap(({ view, title, creates }) => {
      if (!creates || !can(creates.call)) return [];
      const place: Thing | null = site ?? lastSite.get();
      const open = (chosen: Thing) =>
        creates.form === undefined
          ? tools.create(siteAddress(chosen, view))
          : tools.goTo(siteAddress(chosen, view, creates.form));
      const run = () => (place ? open(place) : tools.ask(sites.meta, 'palette.whichSite', open));
      return [item(`site ${view}`, creates, place?.name ?? t(title), [t(title)], run)];
    }),
  );
  // Within a site, the site's own commands come first.
  return site ? [...inSite, ...inConsole] : [...inConsole, ...inSite];
}
