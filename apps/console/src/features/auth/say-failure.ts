import { toastError } from '../../lib/errors.ts';
import { t } from '../../lib/i18n.ts';
import { isDeclined } from '../../lib/passkey.ts';
import { toast } from '../../stores/toasts.ts';

/** Shows sign-in errors as a message and keeps the form. */
export function sayFailure(error: unknown) {
  if (isDeclined(error)) toast({ tone: 'bad', text: t('auth.passkeyDeclined') });
  else toastError(error);
}
