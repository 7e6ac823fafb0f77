import { ApiError } from '@edgeloom/contract/client.ts';
import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { Button } from '@mantine/core';
import { useCallback, useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { explain, fieldErrorsOf, ruleText, toastError, type Telling } from '../../lib/errors.ts';
import { useKeepDraft, useKeptDraft } from '../../lib/drafts.ts';
import { tMaybe, useT, type Word } from '../../lib/i18n.ts';
import { make, type Planned } from '../../lib/planned.ts';
import { freshOf, refresh } from '../../lib/queries.ts';
import { acceptedOf, defaultsOf, issuesOf, withoutSecrets } from '../../lib/schema.ts';
import { toast } from '../../stores/toasts.ts';
import { toastWithUndo } from '../../stores/undo.ts';
import { LeaveGuard } from '../leave-guard/leave-guard.tsx';
import { useInsideOverlay } from '../overlay/overlay.tsx';
import { PreviewButton, type Preview } from '../preview/preview-button.tsx';
import { fieldTitle } from '../resource-table/columns.tsx';
import { announceCreated } from '../resource-table/new-rows.ts';
import { SaveBar } from '../save-bar/save-bar.tsx';
import { FormContext, withValue, type FormState, type Values } from './form-state.ts';
import { changesInWords } from './changes.ts';
import { merge, type Conflict } from './conflict.ts';
import { ConflictPanel } from './conflict-panel.tsx';
import { DraftNotice } from './draft-notice.tsx';
import { ErrorSummary, focusField, focusFirstError, invalidFields, labelOf } from './error-summary.tsx';
import classes from './resource-form.module.css';

interface ResourceFormProps extends Telling {
  /** Endpoint for creation, used without `value`. */
  create?: Endpoint;
  update?: Endpoint;
  params?: Readonly<Record<string, string>>;
  /** The object to edit. Only fields of the update body are used. */
  value?: object | null | undefined;
  /** Initial values of a new object, over the schema's defaults. */
  initial?: Values;
  /** Schema of the fields, and how they are put into the body, when they are not the body itself. */
  schema?: unknown;
  wrap?: (input: Values) => object;
  refreshes?: readonly string[];
  onDone?: (reply: unknown) => void;
  words?: string;
  submitLabel?: Word;
  done?: Word;
  /** Restores the previous value; offered in the success message. */
  undo?: (saved: Values) => Promise<void>;
  /** On a page: unsaved changes are listed in the bar at the bottom. */
  bar?: boolean;
  /** For site configuration: offers a preview of the change. */
  preview?: boolean;
  children: ReactNode;
}

/** Fields in order, validated by the endpoint's schema: on blur first, then while typing. */
export function ResourceForm(props: ResourceFormProps) {
  const {
    create,
    update,
    params,
    value,
    initial,
    wrap,
    refreshes = [],
    onDone,
    bar = false,
    preview = false,
    failed,
    says,
    children,
  } = props;
  const t = useT();
  const overlay = useInsideOverlay();
  const editing = value !== undefined && value !== null;
  const endpoint = editing ? (update ?? create) : (create ?? update);
  if (!endpoint) throw new Error('A form needs an endpoint to send to');
  const words = props.words ?? endpoint.feature;
  const schema = props.schema ?? endpoint.body;
  const asNew = props.schema ?? create?.body ?? schema;

  const start: Values = {
    ...(editing ? {} : defaultsOf(schema)),
    ...initial,
    ...(editing ? acceptedOf(schema, value) : {}),
  };
  // Parents may recreate `initial` and `value` on each render, so compare their content.
  const startText = JSON.stringify(start);
  const [baseText, setBaseText] = useState(startText);
  const [base, setBase] = useState(start);
  const draftKey = `${endpoint.feature}.${endpoint.name} ${JSON.stringify(params ?? {})} ${idOf(value)}`;
  const draft = useKeptDraft(draftKey, isDraft);
  // A draft may contain fields of another provider's form.
  const [restored] = useState(draft && merge(acceptedOf(schema, draft.base), acceptedOf(schema, draft.values), start));
  const [isRestored, setRestored] = useState(restored !== null);
  const [values, setValues] = useState<Values>(restored?.values ?? start);
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const [refused, setRefused] = useState<ReadonlyMap<string, string>>(new Map());
  const [attempts, setAttempts] = useState(0);
  const [hidden, setHidden] = useState<readonly string[]>([]);
  const [invalid, setInvalid] = useState<readonly HTMLElement[]>([]);
  const [busy, setBusy] = useState(false);
  const [known, setKnown] = useState(timeOf(value));
  const [conflict, setConflict] = useState(restored && editing ? foreignOf(restored.conflict) : null);
  const fields = useRef(new Set<string>());
  const form = useRef<HTMLFormElement>(null);
  const pressed = useRef(false);
  const dirty = JSON.stringify(values) !== JSON.stringify(base);
  useKeepDraft(draftKey, () =>
    dirty ? { base: withoutSecrets(schema, base), values: withoutSecrets(schema, values) } : undefined,
  );

  // Newer server values replace untouched ones.
  if (baseText !== startText && !dirty && !busy) {
    setBaseText(startText);
    setBase(start);
    setValues(start);
    setKnown(timeOf(value));
  }

  const issues = useMemo(() => issuesOf(schema, values), [schema, values]);
  const errors = useMemo(() => {
    const shown = new Map(refused);
    for (const { path, rule, message, values: numbers } of issues)
      if (!shown.has(path) && (attempts > 0 || isTouched(path, touched)))
        shown.set(path, ruleText(rule, message, numbers));
    return shown;
  }, [issues, refused, touched, attempts]);

  const set = useCallback((name: string, next: unknown) => {
    setValues((before) => withValue(before, name, next));
    setRefused((before) => new Map([...before].filter(([path]) => path !== name && !path.startsWith(`${name}.`))));
  }, []);
  const blur = useCallback((name: string) => {
    const touch = () => setTouched((before) => (before.has(name) ? before : new Set([...before, name])));
    // An error that appears during a press would move the button away from the pointer.
    if (pressed.current) addEventListener('pointerup', () => setTimeout(touch), { once: true });
    else touch();
  }, []);
  const register = useCallback((name: string) => {
    fields.current.add(name);
    return () => void fields.current.delete(name);
  }, []);
  const state = useMemo<FormState>(
    () => ({ words, schema, asNew, values, params, busy, set, blur, register, errors }),
    [words, schema, asNew, values, params, busy, set, blur, register, errors],
  );

  useEffect(() => overlay?.setDirty(dirty), [overlay, dirty]);
  // Otherwise focus would start at the drawer's close button.
  useEffect(() => {
    if (overlay)
      form.current?.querySelector('input:not([type="hidden"]), textarea')?.setAttribute('data-autofocus', '');
  }, [overlay]);
  // After a failed submission, focus the first field with an error.
  useEffect(() => {
    if (attempts > 0) focusFirstError(form.current);
  }, [attempts]);
  useEffect(() => {
    if (attempts > 0 && errors.size > 0) setInvalid(invalidFields(form.current));
  }, [attempts, errors]);

  const reset = () => {
    setValues(base);
    setRestored(false);
    setRefused(new Map());
    setTouched(new Set());
    setAttempts(0);
    setConflict(null);
  };

  /** The other person's saved version as a conflict, or null if it cannot be found. */
  async function meet(): Promise<Conflict | null> {
    await refresh([endpoint?.feature ?? '', ...refreshes]);
    const latest = freshOf(endpoint?.feature ?? '', idOf(value));
    if (!latest) return null;
    const theirs: Values = { ...base, ...acceptedOf(schema, latest) };
    const merged = merge(base, values, theirs);
    setBase(theirs);
    setValues(merged.values);
    setKnown(timeOf(latest));
    setConflict(merged.conflict);
    return merged.conflict;
  }

  /** The call that saves, or null after showing validation errors. */
  function plan(): Planned | null {
    if (!endpoint || busy) return null;
    if (issues.length === 0) {
      const body = acceptedOf(schema, values);
      return { endpoint, params, body: wrap ? wrap(body) : body };
    }
    setHidden(
      issues.flatMap(({ path, rule, message, values: numbers }) =>
        ownPath(path, fields.current) === null
          ? [`${fieldTitle(words, path)}${t('common.colon')}${ruleText(rule, message, numbers)}`]
          : [],
      ),
    );
    setAttempts((count) => count + 1);
    return null;
  }

  /** Shows each error at its field, and the rest as a whole. */
  function refuse(error: unknown) {
    const found = [
      ...fieldErrorsOf(error).map(
        ({ path, rule, message, values: mentioned }) => [path, ruleText(rule, message, mentioned)] as const,
      ),
      ...takenOf(error),
    ].map(([path, text]) => [ownPath(path, fields.current), text] as const);
    const placed = found.flatMap(([path, text]) => (path === null ? [] : [[path, text] as const]));
    if (placed.length === 0 || placed.length < found.length) toastError(error, { failed, says });
    setRefused(new Map(placed));
    setHidden([]);
    setAttempts((count) => count + 1);
  }

  async function submit() {
    const planned = plan();
    if (!planned) return;
    setBusy(true);
    try {
      const reply = await make(planned, { ifMatch: known });
      setBase(values);
      setRestored(false);
      setKnown(timeOf(reply));
      setConflict(null);
      setAttempts(0);
      await refresh([planned.endpoint.feature, ...refreshes]);
      const text = t(props.done ?? (editing ? 'common.saved' : 'common.created'));
      const { undo } = props;
      if (undo) toastWithUndo(text, () => undo(values));
      else toast({ text });
      overlay?.setDirty(false);
      overlay?.close();
      if (!editing && planned.endpoint.name.startsWith('create')) announceCreated(planned.endpoint.feature, reply);
      onDone?.(reply);
    } catch (error) {
      if (error instanceof ApiError && error.status === CHANGED && (await meet())) return;
      refuse(error);
    } finally {
      setBusy(false);
    }
  }

  const previewing: Preview = { plan: () => listed(plan()), onRefused: (error) => refuse(error) };
  const summary = attempts > 0 && errors.size > 0 && (
    <ErrorSummary
      count={errors.size}
      hidden={issues.length > 0 ? hidden : []}
      onShow={() => focusFirstError(form.current)}
      fields={
        invalid.length > 1 ? invalid.map((field) => ({ text: labelOf(field), open: () => focusField(field) })) : []
      }
    />
  );
  const label = props.submitLabel
    ? t(props.submitLabel)
    : editing
      ? t('common.save')
      : (tMaybe(`${words}.create`) ?? t('common.add'));
  return (
    <FormContext value={state}>
      <form
        ref={form}
        noValidate
        className={classes['form']}
        data-bar={bar || undefined}
        onPointerDown={() => {
          pressed.current = true;
          addEventListener('pointerup', () => (pressed.current = false), { once: true });
        }}
        onSubmit={(event) => {
          event.preventDefault();
          event.stopPropagation();
          void submit();
        }}
      >
        {isRestored && dirty && !bar && <DraftNotice onDiscard={reset} />}
        {conflict && <ConflictPanel key={known} conflict={conflict} words={words} values={values} choose={set} />}
        <div className={classes['fields']}>{children}</div>
        {bar ? (
          <SaveBar
            changes={changesInWords(base, values, (name) => fieldTitle(words, name))}
            saving={busy}
            isRestored={isRestored}
            onSave={() => void submit()}
            onDiscard={reset}
            preview={preview ? previewing : undefined}
            errors={summary}
            {...(props.submitLabel && { saveLabel: props.submitLabel })}
          />
        ) : (
          <div className={classes['buttons']}>
            {summary}
            {overlay && (
              <Button variant="default" onClick={overlay.close}>
                {t('common.cancel')}
              </Button>
            )}
            {preview && <PreviewButton preview={previewing} saveText={label} onSave={() => void submit()} />}
            <Button type="submit" loading={busy}>
              {label}
            </Button>
          </div>
        )}
      </form>
      <LeaveGuard when={dirty && !busy} />
    </FormContext>
  );
}

const listed = (planned: Planned | null) => planned && [planned];

/** The object's ETag. */
const timeOf = (value: unknown) =>
  typeof value === 'object' && value !== null && 'updatedAt' in value && typeof value.updatedAt === 'string'
    ? value.updatedAt
    : undefined;
const CHANGED = 412;

/** Without secrets. `base` is the version that the edit started from. */
interface Draft {
  base: Values;
  values: Values;
}
/** Null without changes by others. */
const foreignOf = (conflict: Conflict) => (conflict.fields.length + conflict.taken.length > 0 ? conflict : null);

const isRecord = (stored: unknown): stored is Values =>
  typeof stored === 'object' && stored !== null && !Array.isArray(stored);
const isDraft = (stored: unknown): stored is Draft & Values =>
  isRecord(stored) && isRecord(stored['base']) && isRecord(stored['values']);
const idOf = (value: object | null | undefined) => (value && 'id' in value ? String(value.id) : '');

/** Field of each "already taken" error that has no path. */
const taken: Readonly<Record<number, string>> = { 101_017: 'email', 101_025: 'name', 201_002: 'name' };

const takenOf = (error: unknown): (readonly [string, string])[] => {
  const { code, text } = explain(error);
  const field = code === null ? undefined : taken[code];
  return field === undefined ? [] : [[field, text]];
};

const isTouched = (path: string, touched: ReadonlySet<string>) =>
  [...touched].some((name) => path === name || path.startsWith(`${name}.`));

/** Maps `rules.0.value.2` of a wrapped body to `value.2` of the field `value`, or null. */
export function ownPath(path: string, fields: ReadonlySet<string>): string | null {
  const parts = path.split('.');
  for (let from = 0; from < parts.length; from += 1) {
    const rest = parts.slice(from).join('.');
    if ([...fields].some((name) => rest === name || rest.startsWith(`${name}.`))) return rest;
  }
  return null;
}
