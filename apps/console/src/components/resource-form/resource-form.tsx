import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { useCallback, useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { tMaybe, useT, type Word } from '../../lib/i18n.ts';
import type { Planned } from '../../lib/planned.ts';
import { LeaveGuard } from '../leave-guard/leave-guard.tsx';
import { useInsideOverlay } from '../overlay/overlay.tsx';
import type { Preview } from '../preview/preview-button.tsx';
import { fieldTitle } from '../resource-table/columns.tsx';
import { SaveBar } from '../save-bar/save-bar.tsx';
import { changesInWords } from './changes.ts';
import { ConflictPanel } from './conflict-panel.tsx';
import { DraftNotice } from './draft-notice.tsx';
import { ErrorSummary } from './error-summary.tsx';
import { FormButtons } from './form-buttons.tsx';
import { FormContext, type FormState, type Values } from './form-state.ts';
import classes from './resource-form.module.css';
import { useFormErrors } from './use-form-errors.ts';
import { useFormValues } from './use-form-values.ts';
import { useSave, type SaveOptions } from './use-save.ts';

interface ResourceFormProps extends SaveOptions {
  /** Endpoint for creation, used without `value`. */
  create?: Endpoint;
  update?: Endpoint;
  /** The object to edit. Only fields of the update body are used. */
  value?: object | null | undefined;
  /** Initial values of a new object, over the schema's defaults. */
  initial?: Values;
  /** Schema of the fields, when they are not the body itself. */
  schema?: unknown;
  words?: string;
  submitLabel?: Word;
  /** On a page: unsaved changes are listed in the bar at the bottom. */
  bar?: boolean;
  /** For site configuration: offers a preview of the change. */
  preview?: boolean;
  children: ReactNode;
}

/** Fields in order, validated by the endpoint's schema: on blur first, then while typing. */
export function ResourceForm(props: ResourceFormProps) {
  const { create, update, params, value, initial, submitLabel, bar = false, children } = props;
  const t = useT();
  const overlay = useInsideOverlay();
  const isEditing = value !== undefined && value !== null;
  const endpoint = isEditing ? (update ?? create) : (create ?? update);
  if (!endpoint) throw new Error('A form needs an endpoint to send to');
  const words = props.words ?? endpoint.feature;
  const schema = props.schema ?? endpoint.body;
  const asNew = props.schema ?? create?.body ?? schema;
  const id = value && 'id' in value ? String(value.id) : '';
  const draftKey = `${endpoint.feature}.${endpoint.name} ${JSON.stringify(params ?? {})} ${id}`;

  const element = useRef<HTMLFormElement>(null);
  const [isSaving, setSaving] = useState(false);
  const form = useFormValues({ schema, value, initial, draftKey, isSaving });
  const problems = useFormErrors({ form: element, schema, values: form.values, words });
  const { plan, save, showError } = useSave(props, {
    endpoint,
    schema,
    id,
    isEditing,
    form,
    problems,
    isSaving,
    setSaving,
  });

  const { values, isDirty, isRestored, conflict, set: setValue } = form;
  const { errors, blur, register, clear, summary } = problems;
  const set = useCallback(
    (name: string, next: unknown) => {
      setValue(name, next);
      clear(name);
    },
    [setValue, clear],
  );
  const state = useMemo<FormState>(
    () => ({ words, schema, asNew, values, params, busy: isSaving, set, blur, register, errors }),
    [words, schema, asNew, values, params, isSaving, set, blur, register, errors],
  );
  const reset = () => {
    form.reset();
    problems.reset();
  };

  useEffect(() => overlay?.setDirty(isDirty), [overlay, isDirty]);
  // Otherwise focus would start at the drawer's close button.
  useEffect(() => {
    if (overlay)
      element.current?.querySelector('input:not([type="hidden"]), textarea')?.setAttribute('data-autofocus', '');
  }, [overlay]);

  const preview: Preview | undefined = props.preview ? { plan: () => listed(plan()), onRefused: showError } : undefined;
  const label = submitLabel
    ? t(submitLabel)
    : isEditing
      ? t('common.save')
      : (tMaybe(`${words}.create`) ?? t('common.add'));
  return (
    <FormContext value={state}>
      <form
        ref={element}
        noValidate
        className={classes['form']}
        data-bar={bar || undefined}
        onPointerDown={problems.trackPress}
        onSubmit={(event) => {
          event.preventDefault();
          event.stopPropagation();
          void save();
        }}
      >
        {isRestored && isDirty && !bar && <DraftNotice onDiscard={reset} />}
        {conflict && (
          <ConflictPanel key={form.version} conflict={conflict} words={words} values={values} choose={set} />
        )}
        <div className={classes['fields']}>{children}</div>
        {bar ? (
          <SaveBar
            changes={changesInWords(form.base, values, (name) => fieldTitle(words, name))}
            saving={isSaving}
            isRestored={isRestored}
            onSave={() => void save()}
            onDiscard={reset}
            preview={preview}
            errors={summary && <ErrorSummary {...summary} />}
            {...(submitLabel && { saveLabel: submitLabel })}
          />
        ) : (
          <FormButtons label={label} isSaving={isSaving} preview={preview} onSave={() => void save()}>
            {summary && <ErrorSummary {...summary} />}
          </FormButtons>
        )}
      </form>
      <LeaveGuard when={isDirty && !isSaving} />
    </FormContext>
  );
}

const listed = (planned: Planned | null) => planned && [planned];
