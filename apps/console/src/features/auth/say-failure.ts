import { toastError } from '../../lib/errors.ts';
import { t } from '../../lib/i18n.ts';
import { isDeclined } from '../../lib/passkey.ts';
import { toast } from '../../stores/toasts.ts';

/** What keeps somebody from signing in is a message; the form stands as it was, to be tried again. */
export function sayFailure(error: unknown) {
  if (isDeclined(error)) toast({ tone: 'bad', text: t('auth.passkeyDeclined') });
  else toastError(error);
}
