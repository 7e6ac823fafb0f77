import { IconAddressBook } from '@tabler/icons-react';
import { Link, useLocation } from 'react-router-dom';
import { Banner } from '../../components/frame/banner.tsx';
import { lacksDns, noteDnsSetup } from '../../lib/dns-setup.ts';
import { to } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';
import { usePreferences } from '../../stores/preferences.ts';
import { useSession } from '../../stores/session.ts';

/** Link to the postponed DNS setup. */
export function DnsBanner() {
  const t = useT();
  const { pathname } = useLocation();
  const account = useSession((session) => session.account);
  const isHidden = usePreferences(({ dnsSetup }) => account !== null && dnsSetup[account.id] === 'hidden');
  if (!lacksDns(account) || isHidden || pathname === to('DNSSetting')) return null;
  return (
    <Banner
      tone="off"
      icon={IconAddressBook}
      action={
        <>
          <Link to={to('DNSSetting')}>{t('dnsSetting.first.title')}</Link>
          <button type="button" onClick={() => noteDnsSetup(account, 'hidden')}>
            {t('dnsSetting.banner.hide')}
          </button>
        </>
      }
    >
      {t('dnsSetting.banner.text')}
    </Banner>
  );
}
