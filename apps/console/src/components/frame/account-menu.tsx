import { Menu } from '@mantine/core';
import { IconClock, IconDevices, IconDots, IconKey, IconLogout, IconShieldLock } from '@tabler/icons-react';
import { Link } from 'react-router-dom';
import { stopActing } from '../../lib/acting.ts';
import { to } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';
import { signOut } from '../../lib/sign-in.ts';
import { usePhone } from '../../lib/use-phone.ts';
import { version } from '../../lib/version.ts';
import { prefer, usePreferences } from '../../stores/preferences.ts';
import { useSession } from '../../stores/session.ts';
import { useOverlay, useOverlayClose } from '../overlay/overlay.tsx';
import { LanguageItems, ThemeItems } from './top-tools.tsx';
import { ZonePicker } from './zone-picker.tsx';
import classes from './rail.module.css';

const initials = (email: string) => {
  const [first = '', second = ''] = email.split('@')[0]?.split(/[._-]+/) ?? [];
  return (second ? `${first.charAt(0)}${second.charAt(0)}` : first.slice(0, 2)).toUpperCase();
};

export function AccountMenu() {
  const t = useT();
  const account = useSession((session) => session.account);
  const overlay = useOverlay();
  const phone = usePhone();
  const { density, letterKeys } = usePreferences();
  if (!account) return null;
  return (
    <Menu position="top-start" width={220}>
      <Menu.Target>
        <button type="button" className={classes['account']}>
          <span className={classes['avatar']} aria-hidden>
            {initials(account.email)}
          </span>
          <span className={classes['accountText']}>
            <span className="hidden-text">{t('frame.account')} </span>
            <div className={classes['email']}>{account.email}</div>
            <div className={classes['role']}>{t(account.isRoot ? 'frame.root' : 'frame.sub')}</div>
          </span>
          <IconDots className={classes['more'] ?? ''} size={16} stroke={1.6} aria-hidden />
        </button>
      </Menu.Target>
      <Menu.Dropdown className={classes['accountItems'] ?? ''}>
        {account.proxy === null && (
          <>
            <Menu.Item component={Link} to={to('changePassword')} leftSection={<IconKey size={15} stroke={1.6} />}>
              {t('security.changePassword')}
            </Menu.Item>
            <Menu.Item component={Link} to={to('security')} leftSection={<IconShieldLock size={15} stroke={1.6} />}>
              {t('frame.twoFactor')}
            </Menu.Item>
            <Menu.Item
              component={Link}
              to={to('security?tab=devices')}
              leftSection={<IconDevices size={15} stroke={1.6} />}
            >
              {t('security.tabs.devices')}
            </Menu.Item>
            <Menu.Divider />
          </>
        )}
        {phone && (
          <>
            <Menu.Label>{t('frame.language')}</Menu.Label>
            <LanguageItems />
            <Menu.Label>{t('frame.theme')}</Menu.Label>
            <ThemeItems />
            <Menu.Divider />
          </>
        )}
        <Menu.Item
          leftSection={<IconClock size={15} stroke={1.6} />}
          onClick={() => overlay(<Zones />, { title: 'frame.timeZone' })}
        >
          {t('frame.timeZone')}
        </Menu.Item>
        <Menu.Label>{t('frame.density')}</Menu.Label>
        {(['compact', 'roomy'] as const).map((choice) => (
          <Menu.RadioItem
            key={choice}
            value={choice}
            checked={choice === density}
            onChange={() => prefer({ density: choice })}
          >
            {t(`frame.densities.${choice}`)}
          </Menu.RadioItem>
        ))}
        <Menu.Divider />
        <Menu.CheckboxItem checked={letterKeys} onChange={(on) => prefer({ letterKeys: on })}>
          {t('frame.letterKeys')}
        </Menu.CheckboxItem>
        <Menu.Divider />
        <Menu.Item
          leftSection={<IconLogout size={15} stroke={1.6} />}
          onClick={() => void (account.proxy ? stopActing() : signOut())}
        >
          {t(account.proxy ? 'proxy.stop' : 'app.signOut')}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Label>{t('frame.version', { version })}</Menu.Label>
      </Menu.Dropdown>
    </Menu>
  );
}

const Zones = () => <ZonePicker onDone={useOverlayClose()} />;
