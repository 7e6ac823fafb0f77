import { useCallback, useMemo, useRef, useState, type RefObject } from 'react';
import { flushSync } from 'react-dom';
import { ruleText, toastError, type Telling } from '../../lib/errors.ts';
import { useT } from '../../lib/i18n.ts';
import { issuesOf } from '../../lib/schema.ts';
import { fieldTitle } from '../resource-table/columns.tsx';
import { errorsOf, ownPath } from './error-paths.ts';
import { focusField, focusFirstError, invalidFields, labelOf } from './error-summary.tsx';
import type { Values } from './form-state.ts';
import { usePress } from './use-press.ts';

interface FormErrorsOptions {
  form: RefObject<HTMLFormElement | null>;
  schema: unknown;
  values: Values;
  words: string;
}

export type FormErrors = ReturnType<typeof useFormErrors>;

/** Errors of the schema, shown once a field was left or a save was tried, and errors of the response. */
export function useFormErrors({ form, schema, values, words }: FormErrorsOptions) {
  const t = useT();
  const fields = useRef(new Set<string>());
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const [refused, setRefused] = useState<ReadonlyMap<string, string>>(new Map());
  const [attempts, setAttempts] = useState(0);
  const [hidden, setHidden] = useState<readonly string[]>([]);
  const [marked, setMarked] = useState<readonly MarkedField[]>([]);
  const press = usePress();

  const issues = useMemo(() => issuesOf(schema, values), [schema, values]);
  const errors = useMemo(() => {
    const shown = new Map(refused);
    for (const { path, rule, message, values: numbers } of issues)
      if (!shown.has(path) && (attempts > 0 || isTouched(path, touched)))
        shown.set(path, ruleText(rule, message, numbers));
    return shown;
  }, [issues, refused, touched, attempts]);

  const register = useCallback((name: string) => {
    fields.current.add(name);
    return () => void fields.current.delete(name);
  }, []);
  const { afterPress } = press;
  const blur = useCallback(
    (name: string) =>
      afterPress(() => setTouched((before) => (before.has(name) ? before : new Set([...before, name])))),
    [afterPress],
  );
  /** Removes a field's errors of the response once it is edited. */
  const clear = useCallback(
    (name: string) => setRefused((before) => new Map([...before].filter(([path]) => !isWithin(path, name)))),
    [],
  );

  /** Renders the errors, then focuses the first field with one and lists all of them for the summary. */
  const showAttempt = (hiddenErrors: readonly string[], response: ReadonlyMap<string, string>) => {
    flushSync(() => {
      setHidden(hiddenErrors);
      setRefused(response);
      setAttempts((count) => count + 1);
    });
    setMarked(invalidFields(form.current).map(markedField));
    focusFirstError(form.current);
  };
  const showIssues = () => {
    const withoutField = issues.filter(({ path }) => ownPath(path, fields.current) === null);
    const texts = withoutField.map(
      ({ path, rule, message, values: numbers }) =>
        `${fieldTitle(words, path)}${t('common.colon')}${ruleText(rule, message, numbers)}`,
    );
    showAttempt(texts, refused);
  };
  /** Shows each error at its field, and those without a field in a message. */
  const showResponse = (error: unknown, telling: Telling) => {
    const found = errorsOf(error).map(([path, text]) => [ownPath(path, fields.current), text] as const);
    const placed = found.flatMap(([path, text]) => (path === null ? [] : [[path, text] as const]));
    if (placed.length === 0 || placed.length < found.length) toastError(error, telling);
    showAttempt([], new Map(placed));
  };
  const endAttempts = () => setAttempts(0);
  const reset = () => {
    setRefused(new Map());
    setTouched(new Set());
    setAttempts(0);
  };

  const stillMarked = marked.filter(({ name }) => name === null || hasError(errors, name));
  const summary = attempts > 0 &&
    errors.size > 0 && {
      count: errors.size,
      hidden: issues.length > 0 ? hidden : [],
      onShow: () => focusFirstError(form.current),
      fields: stillMarked.length > 1 ? stillMarked : [],
    };
  return {
    errors,
    isValid: issues.length === 0,
    summary,
    register,
    blur,
    trackPress: press.start,
    clear,
    showIssues,
    showResponse,
    endAttempts,
    reset,
  };
}

/** A field with an error, as listed in the summary. Fields made of several inputs have no name. */
interface MarkedField {
  name: string | null;
  text: string;
  open: () => void;
}
const markedField = (field: HTMLElement): MarkedField => ({
  name: field.getAttribute('name'),
  text: labelOf(field),
  open: () => focusField(field),
});

const isWithin = (path: string, name: string) => path === name || path.startsWith(`${name}.`);
const hasError = (errors: ReadonlyMap<string, string>, name: string) =>
  [...errors.keys()].some((path) => isWithin(path, name));
const isTouched = (path: string, touched: ReadonlySet<string>) => [...touched].some((name) => isWithin(path, name));
