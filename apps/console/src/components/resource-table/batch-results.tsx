import { useState } from 'react';
import { withCode } from '../../lib/errors.ts';
import { RowResults, type RowResult } from '../row-results/row-results.tsx';
import type { Outcome } from './batch.ts';

interface BatchResultsProps<Row> {
  title: string;
  outcomes: readonly Outcome<Row>[];
  /** Names of skipped rows, and the reason. */
  skipped: readonly string[];
  why: string;
  nameOf: (row: Row) => string;
  retry: (rows: readonly Row[]) => Promise<Outcome<Row>[]>;
}

/** Results of a bulk action per row, with a retry for failed rows. */
export function BatchResults<Row>({ title, outcomes, skipped, why, nameOf, retry }: BatchResultsProps<Row>) {
  const [known, setKnown] = useState(outcomes);
  const [running, setRunning] = useState(false);
  const again = async () => {
    setRunning(true);
    const later = await retry(known.filter(({ failed }) => failed !== null).map(({ row }) => row));
    setKnown((before) => before.map((outcome) => later.find(({ row }) => row === outcome.row) ?? outcome));
    setRunning(false);
  };
  const rows: RowResult[] = [
    ...known.map(({ row, failed }): RowResult =>
      failed
        ? { name: nameOf(row), outcome: 'failed', text: withCode(failed) }
        : { name: nameOf(row), outcome: 'done' },
    ),
    ...skipped.map((name): RowResult => ({ name, outcome: 'skipped', text: why })),
  ];
  return <RowResults title={title} rows={rows} onRetry={() => void again()} retrying={running} />;
}
