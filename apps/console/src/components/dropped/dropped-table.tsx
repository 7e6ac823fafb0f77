import { bytes, count } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import classes from './dropped.module.css';

const causes = ['blocked', 'blacklist', 'risk', 'syn'] as const;
type Tallies = Record<(typeof causes)[number], { packets: number; bytes: number; perSecond: number }>;

/** Packets dropped by the kernel firewall, in the order of its rules. */
export function DroppedTable({ dropped }: { dropped: Tallies }) {
  const t = useT();
  return (
    <table className={classes['table']}>
      <caption className="hidden-text">{t('dropped.title')}</caption>
      <thead>
        <tr>
          <th scope="col">{t('dropped.by')}</th>
          <th scope="col">{t('dropped.now')}</th>
          <th scope="col">{t('dropped.packets')}</th>
          <th scope="col">{t('dropped.bytes')}</th>
        </tr>
      </thead>
      <tbody>
        {causes.map((cause) => (
          <tr key={cause} data-busy={dropped[cause].perSecond > 0 || undefined}>
            <th scope="row">{t(`dropped.causes.${cause}`)}</th>
            <td>{t('dropped.perSecond', { packets: count(Math.round(dropped[cause].perSecond * 10) / 10) })}</td>
            <td>{count(dropped[cause].packets)}</td>
            <td>{bytes(dropped[cause].bytes)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
