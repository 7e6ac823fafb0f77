import { useNavigate } from 'react-router-dom';
import { call } from '../../lib/api.ts';
import { toastError } from '../../lib/errors.ts';
import { to as inConsole } from '../../lib/family.ts';
import { t } from '../../lib/i18n.ts';
import { refresh } from '../../lib/queries.ts';
import { useCan } from '../../lib/use-can.ts';
import { toast } from '../../stores/toasts.ts';
import { useConfirm } from '../confirm/confirm.tsx';
import { useOverlay } from '../overlay/overlay.tsx';
import type { CallAction, RowAction } from './actions.tsx';

export interface Acting<Row> {
  rows: readonly Row[];
  nameOf: (row: Row) => string;
  params: Readonly<Record<string, string>> | undefined;
}

/** Carries out what a row menu or the bulk bar offers. Answers whether it was done. */
export function useRunAction<Row>() {
  const confirm = useConfirm();
  const overlay = useOverlay();
  const navigate = useNavigate();

  async function runCall(action: CallAction<Row>, { rows, nameOf, params }: Acting<Row>) {
    const those = rows.filter(action.applies);
    if (those.length === 0) {
      toast({ tone: 'info', text: t('common.confirm.firstOff') });
      return false;
    }
    const names = those.map(nameOf);
    if (action.confirm) {
      const [only] = names;
      const named = names.length === 1 && only !== undefined;
      const title = named
        ? t('common.confirm.removeNamed', { name: only })
        : t('common.confirm.remove', { count: names.length });
      const verb = named
        ? t('common.confirm.doRemoveNamed', { name: only })
        : t('common.confirm.doRemove', { count: names.length });
      const { points, type } = action.confirm(names, those);
      const skipped = rows.length - those.length;
      const facts = [
        ...(points ?? [t('common.confirm.final')]),
        ...(skipped > 0
          ? [`${t('common.rows.skipped', { count: skipped })}${t('common.colon')}${t('common.confirm.firstOff')}`]
          : []),
      ];
      if (
        !(await confirm({
          title,
          points: facts,
          verb,
          type: type ?? (names.length > 10 ? String(names.length) : undefined),
        }))
      )
        return false;
    }
    const send = async (body: object) => {
      await call(action.endpoint, { ...(params && { params }), ...body });
      await refresh([action.endpoint.feature, ...action.refreshes]);
    };
    try {
      await send(action.send(those));
    } catch (error) {
      toastError(error);
      return false;
    }
    const back = action.undo?.(those);
    toast({
      text: t(action.done, { count: those.length }),
      ...(back && { action: { label: t('common.undo'), run: () => void send(back).catch(toastError) } }),
    });
    return true;
  }

  return async (action: RowAction<Row>, acting: Acting<Row>): Promise<boolean> => {
    if (action.kind === 'call') return runCall(action, acting);
    if (action.kind === 'open') overlay(action.element, { title: action.title });
    else if (action.kind === 'go') await navigate(inConsole(action.to));
    else await action.run(acting.rows);
    return true;
  };
}

/** Those that the account may do: an action without the right is not shown. */
export function useAllowed() {
  const can = useCan();
  return <Row, A extends RowAction<Row>>(actions: readonly A[]) =>
    actions.filter(
      (action) => action.kind === 'go' || can(action.kind === 'call' ? action.endpoint : { can: action.can }),
    );
}
