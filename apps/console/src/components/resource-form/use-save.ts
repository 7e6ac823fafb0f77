import { ApiError } from '@edgeloom/contract/client.ts';
import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import type { Telling } from '../../lib/errors.ts';
import { useT, type Word } from '../../lib/i18n.ts';
import { make, type Planned } from '../../lib/planned.ts';
import { freshOf, refresh } from '../../lib/queries.ts';
import { acceptedOf } from '../../lib/schema.ts';
import { toast } from '../../stores/toasts.ts';
import { toastWithUndo } from '../../stores/undo.ts';
import { useInsideOverlay } from '../overlay/overlay.tsx';
import { announceCreated } from '../resource-table/new-rows.ts';
import type { Values } from './form-state.ts';
import type { FormErrors } from './use-form-errors.ts';
import type { FormValues } from './use-form-values.ts';

export interface SaveOptions extends Telling {
  params?: Readonly<Record<string, string>>;
  /** How the values are put into the body, when they are not the body itself. */
  wrap?: (input: Values) => object;
  refreshes?: readonly string[];
  onDone?: (reply: unknown) => void;
  done?: Word;
  /** Restores the previous value; offered in the success message. */
  undo?: (saved: Values) => Promise<void>;
}
interface SaveState {
  endpoint: Endpoint;
  schema: unknown;
  /** The edited object's; '' for a new one. */
  id: string;
  isEditing: boolean;
  form: FormValues;
  problems: FormErrors;
  isSaving: boolean;
  setSaving: (is: boolean) => void;
}
const PRECONDITION_FAILED = 412;

/** Validates, saves, and shows the result. */
export function useSave(options: SaveOptions, state: SaveState) {
  const { params, wrap, refreshes = [], onDone, undo } = options;
  const { endpoint, schema, id, isEditing, form, problems, isSaving, setSaving } = state;
  const t = useT();
  const overlay = useInsideOverlay();

  /** The call that saves, or null after showing validation errors. */
  function plan(): Planned | null {
    if (isSaving) return null;
    if (!problems.isValid) {
      problems.showIssues();
      return null;
    }
    const body = acceptedOf(schema, form.values);
    return { endpoint, params, body: wrap ? wrap(body) : body };
  }

  /** False if the version that another person saved cannot be found. */
  async function showConflict(): Promise<boolean> {
    await refresh([endpoint.feature, ...refreshes]);
    const latest = freshOf(endpoint.feature, id);
    if (latest) form.mergeWith(latest);
    return latest !== null;
  }

  async function showSuccess(reply: unknown) {
    form.markSaved(reply);
    problems.endAttempts();
    await refresh([endpoint.feature, ...refreshes]);
    const text = t(options.done ?? (isEditing ? 'common.saved' : 'common.created'));
    if (undo) toastWithUndo(text, () => undo(form.values));
    else toast({ text });
    overlay?.setDirty(false);
    overlay?.close();
    if (!isEditing && endpoint.name.startsWith('create')) announceCreated(endpoint.feature, reply);
    onDone?.(reply);
  }

  const showError = (error: unknown) => problems.showResponse(error, options);

  /** Null after the error was shown. */
  async function send(planned: Planned): Promise<{ reply: unknown } | null> {
    try {
      return { reply: await make(planned, { ifMatch: form.version }) };
    } catch (error) {
      const isOutdated = error instanceof ApiError && error.status === PRECONDITION_FAILED;
      if (isOutdated && (await showConflict())) return null;
      // Disabled fields cannot take focus.
      setSaving(false);
      showError(error);
      return null;
    }
  }

  async function save() {
    const planned = plan();
    if (!planned) return;
    setSaving(true);
    try {
      const sent = await send(planned);
      // The object is saved. A later error is a defect, which the browser reports.
      if (sent) await showSuccess(sent.reply);
    } finally {
      setSaving(false);
    }
  }
  return { plan, save, showError };
}
