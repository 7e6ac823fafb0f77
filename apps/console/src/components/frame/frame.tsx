import { ApiError } from '@edgeloom/contract/client.ts';
import { sites } from '@edgeloom/contract/sites/sites.calls.ts';
import { ActionIcon, Drawer } from '@mantine/core';
import { IconMenu2, IconSearch } from '@tabler/icons-react';
import { Suspense, useEffect, useState, type ComponentType } from 'react';
import { Outlet, useLocation, useMatch } from 'react-router-dom';
import { family } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { usePhone } from '../../lib/use-phone.ts';
import { summon } from '../../stores/palette.ts';
import { lastSite } from '../../stores/session.ts';
import { ConfirmProvider } from '../confirm/confirm.tsx';
import { LeaveQuestion } from '../leave-guard/leave-guard.tsx';
import { OverlayProvider } from '../overlay/overlay.tsx';
import { FailedState, PageLoading } from '../states/states.tsx';
import { AnnouncementPanel } from './announcements.tsx';
import { Banners } from './banners.tsx';
import { Breadcrumb } from './breadcrumb.tsx';
import { DocumentTitle } from './document-title.tsx';
import type { MenuGroup, SiteViewGroup } from './menu.ts';
import { MultipleDialog } from './multiple-dialog.tsx';
import { Progress } from './progress.tsx';
import { Rail } from './rail.tsx';
import { Shortcuts, type Summonable } from './shortcuts.tsx';
import { SiteContext } from './site-scope.ts';
import { TopTools } from './top-tools.tsx';
import { useAnnouncements } from './use-announcements.ts';
import classes from './frame.module.css';

export interface FrameProps {
  menu: readonly MenuGroup[];
  /** Pages of a site, if this console has any. */
  views: readonly SiteViewGroup[];
  over: Summonable;
  /** Banners of this console. */
  banners?: readonly ComponentType[];
}

/** Rail, top bar and page panel. */
export function Frame({ menu, views, over, banners = [] }: FrameProps) {
  const t = useT();
  const { key } = useLocation();
  // The path at which the menu sheet was opened. Navigation closes the sheet.
  const [sheetAt, setSheetAt] = useState<string | null>(null);
  const phone = usePhone();
  const match = useMatch(`/${family}/:section/sitesSetting/:siteId/*`);
  const siteId = match?.params.siteId;
  const site = useEndpoint(
    sites.get,
    { params: { siteId: siteId ?? '' } },
    { enabled: siteId !== undefined && family !== 'admin' },
  );
  const scope = siteId !== undefined && site.data?.id === siteId ? site.data : null;

  useEffect(() => {
    if (scope) lastSite.keep(scope);
    else if (isGone(site.error) && lastSite.get()?.id === siteId) lastSite.forget();
  }, [scope, site.error, siteId]);

  const rail = <Rail menu={menu} views={views} site={scope} scoped={siteId !== undefined} />;
  const { isAwaited } = useAnnouncements();
  const known = siteId === undefined || scope !== null;
  return (
    <ConfirmProvider>
      <OverlayProvider>
        <div className={classes['frame']} data-family={family}>
          <a href="#content" className={classes['skip']}>
            {t('frame.skip')}
          </a>
          <div className={classes['selvage']} aria-hidden />
          {!phone && (
            <aside className={classes['rail']} aria-label={t('frame.menu')}>
              {rail}
            </aside>
          )}
          <header className={classes['top']}>
            {phone && (
              <ActionIcon
                size={40}
                aria-label={t('frame.openMenu')}
                aria-expanded={sheetAt === key}
                onClick={() => setSheetAt(key)}
              >
                <IconMenu2 size={18} stroke={1.6} />
              </ActionIcon>
            )}
            <Breadcrumb menu={menu} views={views} site={scope} />
            <TopTools phone={phone} />
            {phone && (
              <ActionIcon size={40} aria-label={t('palette.title')} onClick={() => summon('palette')}>
                <IconSearch size={18} stroke={1.6} />
              </ActionIcon>
            )}
          </header>
          <Banners more={banners} />
          <AnnouncementPanel />
          <main id="content" className={classes['panel']} tabIndex={-1} data-waits={isAwaited || undefined}>
            <Progress />
            <SiteContext value={scope}>
              <Suspense fallback={<PageLoading />}>
                {known ? (
                  <Outlet />
                ) : site.error ? (
                  <FailedState error={site.error} retry={site.retry} needs={site.needs} />
                ) : (
                  <PageLoading />
                )}
              </Suspense>
            </SiteContext>
          </main>
        </div>
        {phone && (
          <Drawer
            opened={sheetAt === key}
            onClose={() => setSheetAt(null)}
            position="left"
            size={288}
            withCloseButton={false}
            padding={0}
            title={t('frame.menu')}
            classNames={{ header: 'hidden-text', body: classes['sheet'] ?? '' }}
          >
            <div className={classes['sheetRail']} data-family={family}>
              {rail}
            </div>
          </Drawer>
        )}
        <MultipleDialog />
        <LeaveQuestion />
        <DocumentTitle site={scope} />
        <Shortcuts menu={menu} views={views} site={scope} over={over} />
      </OverlayProvider>
    </ConfirmProvider>
  );
}

const isGone = (error: Error | null) => error instanceof ApiError && error.status === 404;
