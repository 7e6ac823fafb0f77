import { useCallback, useState } from 'react';
import { useKeepDraft, useStoredDraft } from '../../lib/drafts.ts';
import { acceptedOf, defaultsOf, withoutSecrets } from '../../lib/schema.ts';
import { merge } from './conflict.ts';
import { foreignOf, isDraft } from './draft.ts';
import { withValue, type Values } from './form-state.ts';

interface FormValuesOptions {
  schema: unknown;
  /** The object to edit, or nothing for a new one. */
  value: object | null | undefined;
  initial: Values | undefined;
  draftKey: string;
  isSaving: boolean;
}

export type FormValues = ReturnType<typeof useFormValues>;

/** The values of a form, the saved version that they started from, and their draft in the browser. */
export function useFormValues({ schema, value, initial, draftKey, isSaving }: FormValuesOptions) {
  const isEditing = value !== undefined && value !== null;
  const start: Values = {
    ...(isEditing ? {} : defaultsOf(schema)),
    ...initial,
    ...(isEditing ? acceptedOf(schema, value) : {}),
  };
  // Parents may recreate `initial` and `value` on each render, so compare their content.
  const startText = JSON.stringify(start);
  const [baseText, setBaseText] = useState(startText);
  const [base, setBase] = useState(start);
  const draft = useStoredDraft(draftKey, isDraft);
  // A draft may contain fields of another provider's form.
  const [restored] = useState(draft && merge(acceptedOf(schema, draft.base), acceptedOf(schema, draft.values), start));
  const [isRestored, setRestored] = useState(restored !== null);
  const [values, setValues] = useState<Values>(restored?.values ?? start);
  const [version, setVersion] = useState(versionOf(value));
  const [conflict, setConflict] = useState(restored && isEditing ? foreignOf(restored.conflict) : null);
  const isDirty = JSON.stringify(values) !== JSON.stringify(base);
  useKeepDraft(draftKey, () =>
    isDirty ? { base: withoutSecrets(schema, base), values: withoutSecrets(schema, values) } : undefined,
  );

  // Newer server values replace untouched ones.
  if (baseText !== startText && !isDirty && !isSaving) {
    setBaseText(startText);
    setBase(start);
    setValues(start);
    setVersion(versionOf(value));
  }

  const set = useCallback((name: string, next: unknown) => setValues((before) => withValue(before, name, next)), []);
  const reset = () => {
    setValues(base);
    setRestored(false);
    setConflict(null);
  };
  const markSaved = (reply: unknown) => {
    setBase(values);
    setRestored(false);
    setVersion(versionOf(reply));
    setConflict(null);
  };
  /** Merges the input with another person's newer version. */
  const mergeWith = (latest: object) => {
    const theirs: Values = { ...base, ...acceptedOf(schema, latest) };
    const merged = merge(base, values, theirs);
    setBase(theirs);
    setValues(merged.values);
    setVersion(versionOf(latest));
    setConflict(merged.conflict);
  };
  return { base, values, isDirty, isRestored, version, conflict, set, reset, markSaved, mergeWith };
}

/** The object's ETag. */
const versionOf = (value: unknown) =>
  typeof value === 'object' && value !== null && 'updatedAt' in value && typeof value.updatedAt === 'string'
    ? value.updatedAt
    : undefined;
