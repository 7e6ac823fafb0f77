import { groups } from '@edgeloom/contract/groups/groups.endpoints.ts';
import { call } from '../../lib/api.ts';
import { toastError } from '../../lib/errors.ts';
import { t } from '../../lib/i18n.ts';
import { refresh } from '../../lib/queries.ts';
import { toast } from '../../stores/toasts.ts';
import { undoOf, type Board, type Change } from './board.ts';

/** Restores the nodes of these changes to their current places on the board. */
export async function undoPlacements(zoneId: string, board: Board, changes: readonly Change[]) {
  try {
    await call(groups.place, { params: { zoneId }, body: { changes: undoOf(board, changes) } });
    toast({ text: t('common.undone') });
  } catch (error) {
    toastError(error);
  }
  await refresh([groups.place.feature, 'nodes']);
}
