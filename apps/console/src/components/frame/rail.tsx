import { IconArrowLeft, IconCornerDownRight, IconSearch } from '@tabler/icons-react';
import { useEffect, useRef, type ReactNode } from 'react';
import { Link, useLocation } from 'react-router-dom';
import { family, to as inConsole } from '../../lib/family.ts';
import { intoView } from '../../lib/into-view.ts';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { nothing, useEndpoint, type Result } from '../../lib/use-endpoint.ts';
import { summon } from '../../stores/palette.ts';
import { lastSite } from '../../stores/session.ts';
import { Kbd } from '../values/values.tsx';
import { AccountMenu } from './account-menu.tsx';
import { RailBrand } from './brand.tsx';
import { JobsTray } from './jobs-tray.tsx';
import { entryAt, type MenuEntry, type MenuGroup, type SiteViewGroup } from './menu.ts';
import { sitePath, sitesList, useSiteView, type SiteInfo } from './site-scope.ts';
import { SiteSwitcher } from './site-switcher.tsx';
import classes from './rail.module.css';

interface RailProps {
  menu: readonly MenuGroup[];
  views: readonly SiteViewGroup[];
  site: SiteInfo | null;
  /** True on a site's URL, even before the site is loaded. */
  scoped: boolean;
}

/** The navigation rail. Inside a site it shows the site's menu. */
export function Rail({ menu, views, site, scoped }: RailProps) {
  const t = useT();
  return (
    <div className={classes['rail']}>
      <div className={classes['brand']}>
        <RailBrand />
        <span className={classes['kind']}>{t(`frame.kind.${family}`)}</span>
      </div>
      <SearchField />
      {scoped ? <SiteMenu views={views} site={site} /> : <MainMenu menu={menu} />}
      <div className={classes['foot']}>
        <JobsTray site={site} />
        <AccountMenu />
      </div>
    </div>
  );
}

/** A button that looks like a search field and opens the palette. */
function SearchField() {
  const t = useT();
  return (
    <button type="button" className={classes['find']} title={t('palette.title')} onClick={() => summon('palette')}>
      <IconSearch size={15} stroke={1.6} aria-hidden />
      <span className={classes['word']}>{t('palette.field')}</span>
      <Kbd>Ctrl K</Kbd>
    </button>
  );
}

function MainMenu({ menu }: { menu: readonly MenuGroup[] }) {
  const t = useT();
  const can = useCan();
  const { pathname } = useLocation();
  const current = entryAt(menu, pathname.slice(family.length + 2))?.entry;
  const seen = menu
    .map(({ title, entries }) => ({ title, entries: entries.filter(({ reads }) => reads === undefined || can(reads)) }))
    .filter(({ entries }) => entries.length > 0);
  return (
    <MenuList label={t('frame.mainMenu')} current={current?.to}>
      {seen.map(({ title, entries }) => (
        <div key={title ?? 'first'} className={classes['group']}>
          {title && <div className={classes['groupTitle']}>{t(title)}</div>}
          <ul className={classes['entries']}>
            {entries.map((entry) => (
              <MainEntry key={entry.to} entry={entry} isCurrent={entry === current} />
            ))}
          </ul>
        </div>
      ))}
    </MenuList>
  );
}

/** Keeps the current entry in view after navigation, reload or resizing. */
function MenuList({ label, current, children }: { label: string; current: string | undefined; children: ReactNode }) {
  const menu = useRef<HTMLElement>(null);
  const content = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // Scrolls again when the current entry changes. Scrolling an open switcher out of view would hide its popover.
    const show = () => {
      const isSwitcherOpen = content.current?.querySelector('[aria-expanded="true"]') != null;
      if (current !== undefined && !isSwitcherOpen)
        intoView(content.current?.querySelector('[aria-current="page"]') ?? null);
    };
    // Called once at first. Late entries and the jobs tray change the size.
    const sizes = new ResizeObserver(show);
    for (const element of [menu.current, content.current]) if (element) sizes.observe(element);
    return () => sizes.disconnect();
  }, [current]);
  return (
    <nav ref={menu} className={classes['menu']} aria-label={label}>
      <div ref={content}>{children}</div>
    </nav>
  );
}

function MainEntry({ entry, isCurrent }: { entry: MenuEntry; isCurrent: boolean }) {
  const t = useT();
  const { answers, icon: Icon } = entry;
  const asked: Result<unknown> = useEndpoint(answers ?? nothing, {}, { enabled: answers !== undefined });
  if (answers && asked.data === undefined) return null;
  return (
    <li>
      <Link
        to={inConsole(entry.to)}
        className={classes['entry'] ?? ''}
        title={t(entry.title)}
        aria-current={isCurrent ? 'page' : undefined}
      >
        <Icon size={16} stroke={1.6} aria-hidden />
        <span className={classes['word']}>{t(entry.title)}</span>
      </Link>
      {entry.to === sitesList && <LastSite />}
    </li>
  );
}

/** Link back to the last site of this tab. */
function LastSite() {
  const t = useT();
  const site = lastSite.get();
  if (!site) return null;
  return (
    <Link
      to={inConsole(sitePath(family, site))}
      className={`${classes['entry']} ${classes['below']}`}
      title={`${t('frame.lastSite')}${t('common.colon')}${site.name}`}
    >
      <IconCornerDownRight size={16} stroke={1.6} aria-hidden />
      <span className="hidden-text">{t('frame.lastSite')}</span>
      <span className={classes['word']}>{site.name}</span>
    </Link>
  );
}

function SiteMenu({ views, site }: { views: readonly SiteViewGroup[]; site: SiteInfo | null }) {
  const t = useT();
  const can = useCan();
  const seen = views
    .map(({ title, views: of }) => ({ title, views: of.filter(({ reads }) => reads === undefined || can(reads)) }))
    .filter(({ views: of }) => of.length > 0);
  const current = useSiteView();
  return (
    <MenuList label={t('frame.siteMenu')} current={site ? current : undefined}>
      <Link to={inConsole(sitesList)} className={classes['back'] ?? ''} title={t('frame.allSites')}>
        <IconArrowLeft size={15} stroke={1.6} aria-hidden />
        <span className={classes['word']}>{t('frame.allSites')}</span>
      </Link>
      <SiteSwitcher site={site} />
      {site &&
        seen.map(({ title, views: of }) => (
          <div key={title ?? 'first'} className={classes['group']}>
            {title && <div className={classes['groupTitle']}>{t(title)}</div>}
            <ul className={classes['entries']}>
              {of.map(({ view, title: name, icon: Icon }) => (
                <li key={view}>
                  <Link
                    to={inConsole(sitePath(family, site, view))}
                    className={classes['entry'] ?? ''}
                    title={t(name)}
                    aria-current={view === current ? 'page' : undefined}
                  >
                    <Icon size={16} stroke={1.6} aria-hidden />
                    <span className={classes['word']}>{t(name)}</span>
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        ))}
    </MenuList>
  );
}
