import { sites } from '@edgeloom/contract/sites/sites.calls.ts';
import { Popover, TextInput } from '@mantine/core';
import { IconSearch, IconSelector } from '@tabler/icons-react';
import { useState } from 'react';
import { useNavigate } from 'react-router-dom';
import { count } from '../../lib/format.ts';
import { family, to as inConsole } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';
import { useMetaSearch } from '../../lib/use-meta.ts';
import { StatusMark } from '../status/status-mark.tsx';
import { toneOf } from '../status/status.tsx';
import { sitePath, useSiteView, type SiteInfo } from './site-scope.ts';
import classes from './rail.module.css';

/** Switches to another site and keeps the view. */
export function SiteSwitcher({ site }: { site: SiteInfo | null }) {
  const t = useT();
  const navigate = useNavigate();
  const view = useSiteView();
  const [opened, setOpened] = useState(false);
  const choices = useMetaSearch(sites.meta, { enabled: opened });
  const found = choices.page.map(({ value, label }) => ({ id: value, name: label }));
  const go = (chosen: { id: string; name: string }) => {
    setOpened(false);
    void navigate(inConsole(sitePath(family, chosen, view)));
  };
  return (
    <Popover opened={opened} onChange={setOpened} position="bottom-start" width={260} trapFocus returnFocus>
      <Popover.Target>
        <button
          type="button"
          className={classes['switcher']}
          aria-haspopup="dialog"
          aria-expanded={opened}
          title={site?.name ?? t('frame.switchSite')}
          onClick={() => setOpened(!opened)}
        >
          <StatusMark tone={site ? toneOf('site', site.status) : 'unknown'} />
          <span className={classes['siteText']}>
            <span className="hidden-text">{t('frame.switchSite')} </span>
            <div className={classes['siteName']}>{site?.name ?? '…'}</div>
            <div className={classes['siteFacts']}>{site?.productName}</div>
          </span>
          <IconSelector size={15} stroke={1.6} aria-hidden />
        </button>
      </Popover.Target>
      <Popover.Dropdown p={6} aria-label={t('frame.switchSite')}>
        <TextInput
          size="xs"
          aria-label={t('frame.findSite')}
          placeholder={t('frame.findSite')}
          value={choices.typed}
          onChange={(event) => choices.type(event.currentTarget.value)}
          leftSection={<IconSearch size={14} stroke={1.6} />}
          data-autofocus
          onKeyDown={(event) => {
            const [first] = found;
            if (event.key === 'Enter' && first && choices.question === choices.typed.trim()) go(first);
          }}
        />
        <div className={classes['sites']}>
          {found.map((one) => (
            <button
              key={one.id}
              type="button"
              className={classes['site']}
              aria-current={one.id === site?.id || undefined}
              onClick={() => go(one)}
            >
              {one.name}
            </button>
          ))}
          {choices.more > 0 && (
            <div className={classes['noSite']}>{t('common.form.searchMore', { more: count(choices.more) })}</div>
          )}
          {!choices.loading && found.length === 0 && <div className={classes['noSite']}>{t('frame.noSuchSite')}</div>}
        </div>
      </Popover.Dropdown>
    </Popover>
  );
}
