import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { call } from '../../lib/api.ts';
import { toastError } from '../../lib/errors.ts';
import { t } from '../../lib/i18n.ts';
import { refresh } from '../../lib/queries.ts';
import { toast } from '../../stores/toasts.ts';
import { useOverlay } from '../overlay/overlay.tsx';
import type { Reverse } from './actions.tsx';
import { runBatch, type Outcome } from './batch.ts';
import { BatchResults } from './batch-results.tsx';

interface Reversing<Row> {
  rows: readonly Row[];
  nameOf: (row: Row) => string;
  params: Readonly<Record<string, string>> | undefined;
  /** Endpoint of the action to undo. */
  endpoint: Endpoint;
  refreshes: readonly string[];
}

/** Undoes an action on rows, and lists failures. */
export function useReverse<Row extends { id: string }>() {
  const overlay = useOverlay();

  return async (steps: readonly Reverse[], { rows, nameOf, params, endpoint, refreshes }: Reversing<Row>) => {
    const send = async (step: Reverse, ids: readonly string[], actionId?: string) => {
      const sent = { ...(params && { params }), ...step.send(ids) };
      await call(step.endpoint ?? endpoint, sent, { actionId });
    };
    const attempt = async (wanted: readonly Row[]): Promise<Outcome<Row>[]> => {
      const failed = new Map<Row, Outcome<Row>['failed']>();
      for (const step of steps) {
        const left = wanted.filter((row) => step.ids.includes(row.id) && !failed.has(row));
        const outcomes = await runBatch(left, {
          send: (part, actionId) => {
            const ids = part.map(({ id }) => id);
            return send(step, ids, actionId);
          },
          namesOf: (row) => [row.id, nameOf(row)],
          onProgress: () => {},
        });
        for (const { row, failed: cause } of outcomes) if (cause) failed.set(row, cause);
      }
      await refresh([endpoint.feature, ...refreshes]);
      return wanted.map((row) => ({ row, failed: failed.get(row) ?? null }));
    };
    const isCovered = (row: Row) => steps.some((step) => step.ids.includes(row.id));
    const skipped = rows.filter((row) => !isCovered(row));
    if (rows.length === 1) {
      try {
        for (const step of steps) if (step.ids.length > 0) await send(step, step.ids);
        toast({ text: t('common.undone') });
      } catch (error) {
        toastError(error);
      }
      return refresh([endpoint.feature, ...refreshes]);
    }
    const outcomes = await attempt(rows.filter(isCovered));
    if (skipped.length === 0 && outcomes.every(({ failed }) => failed === null)) toast({ text: t('common.undone') });
    else
      overlay(
        <BatchResults
          title={t('common.undo')}
          outcomes={outcomes}
          skipped={skipped.map(nameOf)}
          why={t('shared.rows.noReturn')}
          nameOf={nameOf}
          retry={attempt}
        />,
        { title: 'shared.rows.results' },
      );
  };
}
