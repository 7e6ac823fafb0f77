// Items that need no request: pages, commands, help.
import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { IconApi, IconKeyboard, IconLanguage, IconLineHeight, IconLogout, IconSunMoon } from '@tabler/icons-react';
import type { SiteInfo } from '../../components/frame/site-scope.ts';
import { languageNames } from '../../components/frame/top-tools.tsx';
import { to } from '../../lib/family.ts';
import { keyOf, queries } from '../../lib/queries.ts';
import { changeLanguage } from '../../lib/change-language.ts';
import { signOut } from '../../lib/sign-in.ts';
import { siteAddress } from '../../lib/site-address.ts';
import { summon } from '../../stores/palette.ts';
import { languages } from '../../lib/languages.ts';
import { prefer } from '../../stores/preferences.ts';
import { creations } from './creations.ts';
import type { Surroundings } from './entities.ts';
import type { Item } from './item.ts';
import { alsoOf } from './places.ts';

/** The menu has loaded this data (rail.tsx). */
const hasAnswered = (call: Endpoint) => queries.getQueryData(keyOf(call, {})) !== undefined;

/** Readable pages; within a site, its own pages first. */
export function pages({ t, can, menu, views, tools }: Surroundings, site: SiteInfo | null): Item[] {
  const ofSite = site
    ? views
        .flatMap((group) => group.views)
        .filter(({ reads }) => reads === undefined || can(reads))
        .map(({ view, title, icon }) => ({
          id: `site ${view}`,
          title: t(title),
          detail: site.name,
          icon,
          ...alsoOf(title, t),
          run: () => tools.go({ title: t(title), detail: site.name, to: siteAddress(site, view) }),
        }))
    : [];
  const ofConsole = menu.flatMap((group) =>
    group.entries
      .filter(
        ({ reads, answers }) => (reads === undefined || can(reads)) && (answers === undefined || hasAnswered(answers)),
      )
      .map(({ to: path, title, icon, key }) => {
        const detail = group.title ? t(group.title) : '';
        return {
          id: `page ${path}`,
          title: t(title),
          detail,
          icon,
          ...alsoOf(title, t),
          ...(key && { keys: ['G', key.toUpperCase()] }),
          run: () => tools.go({ title: t(title), detail, to: to(path) }),
        };
      }),
  );
  return [...ofSite, ...ofConsole];
}

export function commands(around: Surroundings, site: SiteInfo | null): Item[] {
  const { t } = around;
  return [
    ...creations(around, site),
    ...(['light', 'dark', 'system'] as const).map((theme) => ({
      id: `theme ${theme}`,
      title: `${t('frame.theme')}${t('common.colon')}${t(`frame.themes.${theme}`)}`,
      icon: IconSunMoon,
      run: () => prefer({ theme }),
    })),
    ...languages.map((language) => ({
      id: `language ${language}`,
      title: `${t('frame.language')}${t('common.colon')}${languageNames[language]}`,
      icon: IconLanguage,
      run: () => changeLanguage(language),
    })),
    ...(['compact', 'roomy'] as const).map((density) => ({
      id: `density ${density}`,
      title: `${t('frame.density')}${t('common.colon')}${t(`frame.densities.${density}`)}`,
      icon: IconLineHeight,
      run: () => prefer({ density }),
    })),
    { id: 'sign out', title: t('app.signOut'), icon: IconLogout, run: signOut },
  ];
}

export function help({ t, tools }: Surroundings): Item[] {
  const title = t('apiDoc.title');
  return [
    { id: 'keys', title: t('palette.keys.title'), icon: IconKeyboard, keys: ['?'], run: () => summon('keys') },
    { id: 'api', title, icon: IconApi, run: () => tools.go({ title, detail: '', to: to('userManagement/apiDoc') }) },
  ];
}
