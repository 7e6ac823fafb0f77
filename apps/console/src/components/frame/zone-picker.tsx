import { TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useState } from 'react';
import { useT } from '../../lib/i18n.ts';
import { prefer, usePreferences } from '../../stores/preferences.ts';
import classes from './rail.module.css';

const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
const zones = [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])];

/** `Asia/Taipei` is found by "taipei", `America/New_York` by "new york". */
const found = (text: string) => {
  const wanted = text.trim().toLowerCase().replaceAll(' ', '_');
  return zones.filter((zone) => zone.toLowerCase().includes(wanted));
};

/** Time zone of displayed times, stored in this browser. */
export function ZonePicker({ onDone }: { onDone: () => void }) {
  const t = useT();
  const [text, setText] = useState('');
  const chosen = usePreferences(({ timeZone }) => timeZone);
  const choices = found(text);
  const choose = (timeZone: string | null) => {
    prefer({ timeZone });
    onDone();
  };
  const choice = (zone: string | null, label: string) => (
    <button
      key={label}
      type="button"
      className={classes['site']}
      aria-current={zone === chosen || undefined}
      onClick={() => choose(zone)}
    >
      {label}
    </button>
  );
  return (
    <>
      <TextInput
        size="xs"
        aria-label={t('frame.findZone')}
        placeholder={t('frame.findZone')}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        leftSection={<IconSearch size={14} stroke={1.6} />}
        data-autofocus
        onKeyDown={(event) => {
          const [first] = choices;
          if (event.key === 'Enter' && first) choose(first);
        }}
      />
      <div className={classes['sites']}>
        {text === '' && choice(null, t('frame.ownZone', { zone: own }))}
        {choices.map((zone) => choice(zone, zone))}
        {choices.length === 0 && <div className={classes['noSite']}>{t('frame.noSuchZone')}</div>}
      </div>
    </>
  );
}
