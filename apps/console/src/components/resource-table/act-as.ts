import { proxy } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { IconUserShare } from '@tabler/icons-react';
import { beginActing } from '../../lib/acting.ts';
import { toastError } from '../../lib/errors.ts';
import { act, type RunAction } from './actions.tsx';

/** Row action: switch to this account. */
export const actAs = act<{ id: string }>({
  label: 'proxy.actAs',
  icon: IconUserShare,
  can: proxy.start.can,
  own: true,
  run: ([account]) => (account ? beginActing(account.id).catch(toastError) : undefined),
}) satisfies RunAction<{ id: string }>;
