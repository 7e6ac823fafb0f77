import { StatusMark } from '../../components/status/status-mark.tsx';
import { useT } from '../../lib/i18n.ts';
import type { Tone } from '../../theme/tokens.ts';
import classes from './dashboard.module.css';

/** One part of the system with its state. */
export function HealthRow({ tone, name, children }: { tone: Tone; name: string; children: string }) {
  const t = useT();
  return (
    <li className={classes['item']}>
      <StatusMark tone={tone} label={t(`status.tone.${tone}`)} />
      <span>{name}</span>
      <span className={classes['quiet']}>{children}</span>
    </li>
  );
}
