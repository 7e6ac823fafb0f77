import { useT } from '../../lib/i18n.ts';
import classes from './resource-table.module.css';

/** Notes that the group continues on the previous or next page. */
export function GroupEnds({ isContinued, continues }: { isContinued: boolean; continues: boolean }) {
  const t = useT();
  const ends = [
    ...(isContinued ? [t('shared.table.groupContinued')] : []),
    ...(continues ? [t('shared.table.groupContinues')] : []),
  ];
  return ends.length > 0 ? <span className={classes['groupEnds']}>{ends.join(t('common.comma'))}</span> : null;
}
