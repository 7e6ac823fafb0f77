import { ActionIcon, Button, Menu, Popover } from '@mantine/core';
import {
  IconApi,
  IconDeviceDesktop,
  IconHelp,
  IconKeyboard,
  IconLanguage,
  IconMoon,
  IconSun,
} from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { Link } from 'react-router-dom';
import { to } from '../../lib/family.ts';
import { time, zoneName } from '../../lib/format.ts';
import { changeLanguage } from '../../lib/change-language.ts';
import { useLanguage, useT } from '../../lib/i18n.ts';
import { languages, type Language } from '../../lib/languages.ts';
import { prefer, usePreferences } from '../../stores/preferences.ts';
import { summon } from '../../stores/palette.ts';
import { Megaphone } from './announcements.tsx';
import { ZonePicker } from './zone-picker.tsx';
import classes from './frame.module.css';

export const languageNames: Record<Language, string> = { 'zh-TW': '繁體中文', 'zh-CN': '简体中文', en: 'English' };
const themes = { light: IconSun, dark: IconMoon, system: IconDeviceDesktop } as const;
const themeNames = ['light', 'dark', 'system'] as const;

/** On phones, language and theme are in the account menu. */
export function TopTools({ phone }: { phone: boolean }) {
  return (
    <div className={classes['tools']}>
      {!phone && (
        <>
          <Clock />
          <LanguageMenu />
          <ThemeMenu />
        </>
      )}
      <Megaphone />
      {!phone && <HelpMenu />}
    </div>
  );
}

/** The current time and time zone. Opens the time zone picker. */
function Clock() {
  const t = useT();
  const [now, setNow] = useState(() => new Date());
  const [opened, setOpened] = useState(false);
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), 1000);
    return () => clearInterval(timer);
  }, []);
  return (
    <Popover opened={opened} onChange={setOpened} position="bottom-end" width={280} trapFocus returnFocus>
      <Popover.Target>
        <button
          type="button"
          className={classes['clock']}
          title={t('frame.timeZone')}
          aria-haspopup="dialog"
          aria-expanded={opened}
          onClick={() => setOpened(!opened)}
        >
          {time(now)} · {zoneName(now)}
        </button>
      </Popover.Target>
      <Popover.Dropdown p={6} aria-label={t('frame.timeZone')}>
        <ZonePicker onDone={() => setOpened(false)} />
      </Popover.Dropdown>
    </Popover>
  );
}

function LanguageMenu() {
  const t = useT();
  const language = useLanguage();
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button
          variant="subtle"
          color="gray"
          size="xs"
          className={classes['tool'] ?? ''}
          leftSection={<IconLanguage size={16} stroke={1.6} />}
          aria-label={`${t('frame.language')}: ${languageNames[language]}`}
        >
          <span lang={language}>{languageNames[language]}</span>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <LanguageItems />
      </Menu.Dropdown>
    </Menu>
  );
}

function ThemeMenu() {
  const t = useT();
  const theme = usePreferences((preferences) => preferences.theme);
  const Icon = themes[theme];
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon className={classes['tool'] ?? ''} aria-label={`${t('frame.theme')}: ${t(`frame.themes.${theme}`)}`}>
          <Icon size={16} stroke={1.6} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <ThemeItems />
      </Menu.Dropdown>
    </Menu>
  );
}

function HelpMenu() {
  const t = useT();
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon className={classes['tool'] ?? ''} aria-label={t('frame.help')}>
          <IconHelp size={16} stroke={1.6} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconKeyboard size={15} stroke={1.6} />} onClick={() => summon('keys')}>
          {t('palette.keys.title')}
        </Menu.Item>
        <Menu.Item component={Link} to={to('userManagement/apiDoc')} leftSection={<IconApi size={15} stroke={1.6} />}>
          {t('apiDoc.title')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

export function LanguageItems() {
  const language = useLanguage();
  return languages.map((choice) => (
    <Menu.RadioItem
      key={choice}
      value={choice}
      lang={choice}
      checked={choice === language}
      closeMenuOnClick
      onChange={() => void changeLanguage(choice)}
    >
      {languageNames[choice]}
    </Menu.RadioItem>
  ));
}

export function ThemeItems() {
  const t = useT();
  const theme = usePreferences((preferences) => preferences.theme);
  return themeNames.map((choice) => {
    const Icon = themes[choice];
    return (
      <Menu.RadioItem
        key={choice}
        value={choice}
        checked={choice === theme}
        closeMenuOnClick
        rightSection={<Icon size={15} stroke={1.6} />}
        onChange={() => prefer({ theme: choice })}
      >
        {t(`frame.themes.${choice}`)}
      </Menu.RadioItem>
    );
  });
}
