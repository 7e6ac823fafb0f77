import { Button } from '@mantine/core';
import { IconFileExport, IconX } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { byteOrderMark, csvLine } from '../../lib/csv.ts';
import { toastError } from '../../lib/errors.ts';
import { time } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { saveFile } from '../../lib/save-file.ts';
import { toast } from '../../stores/toasts.ts';
import { textOf, titleOf, type Column } from './columns.tsx';
import { everyRow, type Question } from './every-row.ts';
import type { Identified } from './page-of-rows.ts';
import classes from './resource-table.module.css';

interface ExportButtonProps<Row> {
  question: Question;
  /** Visible columns in their order. */
  columns: readonly Column<Row>[];
  words: string;
  /** Name of the list. */
  name: string;
}

/** Exports all matching rows, with progress and cancellation. */
export function ExportButton<Row extends Identified>({ question, columns, words, name }: ExportButtonProps<Row>) {
  const t = useT();
  const [share, setShare] = useState<number | null>(null);
  const work = useRef<AbortController | null>(null);
  useEffect(() => () => work.current?.abort(), []);

  const run = async () => {
    const { signal } = (work.current = new AbortController());
    setShare(0);
    try {
      const onProgress = (done: number, total: number) => setShare(total === 0 ? 1 : done / total);
      const rows = await everyRow<Row>(question, { signal, onProgress });
      const lines = rows.map((row) => csvLine(columns.map((column) => textOf(column, row, words))));
      const head = csvLine(columns.map((column) => titleOf(column, words)));
      saveFile(`${name} ${time(new Date())}.csv`, [byteOrderMark, head, ...lines], 'text/csv');
      toast({ text: t('shared.table.exported', { count: rows.length }) });
    } catch (error) {
      if (!signal.aborted) toastError(error);
    } finally {
      setShare(null);
    }
  };
  const running = share !== null;
  return (
    <Button
      variant="subtle"
      color="gray"
      size="xs"
      className={classes['quiet'] ?? ''}
      leftSection={running ? <IconX size={15} stroke={1.6} /> : <IconFileExport size={15} stroke={1.6} />}
      onClick={() => (running ? work.current?.abort() : void run())}
    >
      {running ? t('shared.table.stopExport', { percent: Math.floor(share * 100) }) : t('shared.table.export')}
    </Button>
  );
}
