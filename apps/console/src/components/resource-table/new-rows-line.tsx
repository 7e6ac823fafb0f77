import { Button } from '@mantine/core';
import { IconCheck } from '@tabler/icons-react';
import { useEffect, useRef } from 'react';
import { useT } from '../../lib/i18n.ts';
import type { useNewRows } from './use-new-rows.ts';
import classes from './resource-table.module.css';

type Fresh = ReturnType<typeof useNewRows>;

/** Shown when filters hide a newly created row. */
export function NewRowsLine({ rows, reveal, forget }: Fresh & { rows: NonNullable<Fresh['rows']> }) {
  const t = useT();
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.focus(), []);
  return (
    <div className={classes['newRows']}>
      <IconCheck size={16} stroke={1.8} aria-hidden />
      <output>
        {rows.made.name === null
          ? t('shared.table.addedHidden')
          : t('shared.table.addedHiddenNamed', { name: rows.made.name })}
      </output>
      <Button ref={button} size="xs" variant="default" onClick={() => void reveal(rows)}>
        {t('shared.table.viewInList')}
      </Button>
      <Button size="xs" variant="subtle" onClick={forget}>
        {t('common.close')}
      </Button>
    </div>
  );
}
