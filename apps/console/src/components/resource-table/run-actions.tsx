import { useNavigate } from 'react-router-dom';
import { call } from '../../lib/api.ts';
import { toastError } from '../../lib/errors.ts';
import { t } from '../../lib/i18n.ts';
import { refresh } from '../../lib/queries.ts';
import { useCan } from '../../lib/use-can.ts';
import { toast } from '../../stores/toasts.ts';
import { toastWithUndo } from '../../stores/undo.ts';
import { useConfirm, type Danger } from '../confirm/confirm.tsx';
import { useOverlay } from '../overlay/overlay.tsx';
import type { CallAction, RowAction } from './actions.tsx';
import { runBatch } from './batch.ts';
import { BatchResults } from './batch-results.tsx';
import { nounOf } from './nouns.ts';
import { useReverse } from './use-reverse.tsx';

export interface Acting<Row> {
  rows: readonly Row[];
  nameOf: (row: Row) => string;
  params: Readonly<Record<string, string>> | undefined;
  /** Progress of a bulk action. */
  onProgress?: (done: number, total: number) => void;
}

/** Runs row and bulk actions. Resolves with whether the action was started. */
export function useRunAction<Row extends { id: string }>() {
  const confirm = useConfirm();
  const overlay = useOverlay();
  const navigate = useNavigate();
  const reverse = useReverse<Row>();

  async function runCall(action: CallAction<Row>, { rows, nameOf, params, onProgress }: Acting<Row>) {
    const those = rows.filter(action.applies);
    const skipped = rows.filter((row) => !those.includes(row));
    if (those.length === 0) {
      toast({ tone: 'info', text: t(action.skips) });
      return false;
    }
    const asks = action.confirm !== null || rows.length > 1;
    if (asks && !(await confirm(previewOf(action, those, skipped, nameOf)))) return false;

    const send = async (some: readonly Row[], actionId?: string) => {
      const sent = { ...(params && { params }), ...action.send(some) };
      const reply: unknown = await call(action.endpoint, sent, { actionId });
      action.after?.(reply, some);
    };
    const { refreshes, undo: back, endpoint } = action;
    const toastDone = (done: readonly Row[]) => {
      const text = t(action.done, { count: done.length });
      const steps = back?.(done) ?? [];
      if (steps.some((step) => step.ids.length > 0))
        toastWithUndo(text, () => reverse(steps, { rows: done, nameOf, params, endpoint, refreshes }));
      else toast({ text });
    };
    const refreshed = () => refresh([endpoint.feature, ...refreshes]);

    if (rows.length === 1) {
      try {
        await send(those);
      } catch (error) {
        toastError(error, { failed: action.failed });
        return false;
      }
      await refreshed();
      toastDone(those);
      return true;
    }
    const attempt = async (some: readonly Row[]) => {
      const outcomes = await runBatch(some, {
        send,
        namesOf: (row) => [row.id, nameOf(row)],
        onProgress: (done) => onProgress?.(done, some.length),
      });
      await refreshed();
      return outcomes;
    };
    const outcomes = await attempt(those);
    const done = outcomes.flatMap(({ row, failed }) => (failed === null ? [row] : []));
    if (done.length > 0) toastDone(done);
    if (skipped.length > 0 || done.length < those.length)
      overlay(
        <BatchResults
          title={t(action.label)}
          outcomes={outcomes}
          skipped={skipped.map(nameOf)}
          why={t(action.skips)}
          nameOf={nameOf}
          retry={attempt}
        />,
        { title: 'shared.rows.results' },
      );
    return true;
  }

  return async (action: RowAction<Row>, acting: Acting<Row>): Promise<boolean> => {
    if (action.kind === 'call') return runCall(action, acting);
    if (action.kind === 'open') overlay(action.element, { title: action.title, ...(action.wide && { wide: true }) });
    else if (action.kind === 'go') await navigate(action.to);
    else await action.run(acting.rows);
    return true;
  };
}

/** Preview of an action: the effect, the number of rows, and the skipped rows with the reason. */
function previewOf<Row>(
  { label, endpoint, danger = false, confirm, skips, undo }: CallAction<Row>,
  those: readonly Row[],
  skipped: readonly Row[],
  nameOf: (row: Row) => string,
): Danger {
  const names = those.map(nameOf);
  const [only] = names;
  const count = those.length;
  const single = count === 1 && skipped.length === 0 && only !== undefined;
  const removes = label === 'common.remove';
  const { title, verb, points, type } = confirm?.(names, those) ?? {};
  const isFinal = undo === null && (removes || (danger && points === undefined));
  const ofOne = removes
    ? t('shared.confirm.removeNamed', { name: only ?? '' })
    : t('shared.confirm.actNamed', { action: t(label), name: only ?? '' });
  const things = nounOf(endpoint.feature, count);
  const many = things === null ? null : { count, things, action: t(label) };
  const ofMany = removes
    ? many
      ? t('shared.confirm.removeThings', many)
      : t('shared.confirm.remove', { count })
    : many
      ? t('shared.confirm.actThings', many)
      : t('shared.confirm.act', { action: t(label), count });
  const doRemove = single
    ? t('shared.confirm.doRemoveNamed', { name: only })
    : many
      ? t('shared.confirm.doRemoveThings', many)
      : t('shared.confirm.doRemove', { count });
  return {
    title: title ?? (single ? ofOne : ofMany),
    points: [
      ...(count > 1 && count <= 5 ? [names.join(t('common.comma'))] : []),
      ...(points ?? []),
      ...(isFinal ? [t('shared.confirm.final')] : []),
      ...(skipped.length > 0
        ? [`${t('shared.rows.skipped', { count: skipped.length })}${t('common.colon')}${t(skips)}`]
        : []),
    ],
    verb: verb ?? (removes ? doRemove : t(label)),
    type: type ?? (danger && count > 10 ? String(count) : undefined),
    calm: !danger,
  };
}

/** Filters actions by permission. */
export function useAllowed() {
  const can = useCan();
  return <Row, A extends RowAction<Row>>(actions: readonly A[]) =>
    actions.filter((action) => action.kind === 'go' || can(action.kind === 'call' ? action.endpoint : action));
}
