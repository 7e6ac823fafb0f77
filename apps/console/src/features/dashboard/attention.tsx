import { Link } from 'react-router-dom';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { to as inConsole } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';
import type { Tone } from '../../theme/theme.ts';
import classes from './dashboard.module.css';

export interface AttentionItem {
  tone: Tone;
  text: string;
  to: string;
}

/** What needs the reader, each with the way to it. */
export function Attention({ items }: { items: readonly AttentionItem[] }) {
  const t = useT();
  if (items.length === 0) return <p className={classes['quiet']}>{t('dashboard.allWell')}</p>;
  return (
    <ul className={classes['items']}>
      {items.map(({ tone, text, to }) => (
        <li key={text} className={classes['item']}>
          <StatusMark tone={tone} label={t(`status.tone.${tone}`)} />
          <span>{text}</span>
          <Link to={inConsole(to)}>{t('dashboard.open')}</Link>
        </li>
      ))}
    </ul>
  );
}
