import { useCallback, useEffect, useMemo, useRef, useState, type RefObject } from 'react';
import { ruleText, toastError, type Telling } from '../../lib/errors.ts';
import { useT } from '../../lib/i18n.ts';
import { issuesOf } from '../../lib/schema.ts';
import { fieldTitle } from '../resource-table/columns.tsx';
import { errorsOf, ownPath } from './error-paths.ts';
import { focusField, focusFirstError, invalidFields, labelOf } from './error-summary.tsx';
import type { Values } from './form-state.ts';

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
  const isPressed = useRef(false);
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const [refused, setRefused] = useState<ReadonlyMap<string, string>>(new Map());
  const [attempts, setAttempts] = useState(0);
  const [hidden, setHidden] = useState<readonly string[]>([]);
  const [invalid, setInvalid] = useState<readonly HTMLElement[]>([]);

  const issues = useMemo(() => issuesOf(schema, values), [schema, values]);
  const errors = useMemo(() => {
    const shown = new Map(refused);
    for (const { path, rule, message, values: numbers } of issues)
      if (!shown.has(path) && (attempts > 0 || isTouched(path, touched)))
        shown.set(path, ruleText(rule, message, numbers));
    return shown;
  }, [issues, refused, touched, attempts]);

  // After a failed submission, focus the first field with an error.
  useEffect(() => {
    if (attempts > 0) focusFirstError(form.current);
  }, [form, attempts]);
  useEffect(() => {
    // oxlint-disable-next-line react/set-state-in-effect -- the marked fields are in the document after rendering
    if (attempts > 0 && errors.size > 0) setInvalid(invalidFields(form.current));
  }, [form, attempts, errors]);

  const register = useCallback((name: string) => {
    fields.current.add(name);
    return () => void fields.current.delete(name);
  }, []);
  const blur = useCallback((name: string) => {
    const touch = () => setTouched((before) => (before.has(name) ? before : new Set([...before, name])));
    // An error that appears during a press would move the button away from the pointer.
    if (isPressed.current) addEventListener('pointerup', () => setTimeout(touch), { once: true });
    else touch();
  }, []);
  const trackPress = () => {
    isPressed.current = true;
    addEventListener('pointerup', () => (isPressed.current = false), { once: true });
  };
  /** The server's errors of a field end when it is edited. */
  const clear = useCallback(
    (name: string) =>
      setRefused((before) => new Map([...before].filter(([path]) => path !== name && !path.startsWith(`${name}.`)))),
    [],
  );

  const showIssues = () => {
    setHidden(
      issues.flatMap(({ path, rule, message, values: numbers }) =>
        ownPath(path, fields.current) === null
          ? [`${fieldTitle(words, path)}${t('common.colon')}${ruleText(rule, message, numbers)}`]
          : [],
      ),
    );
    setAttempts((count) => count + 1);
  };
  /** Shows each error at its field, and the rest as a whole. */
  const showResponse = (error: unknown, telling: Telling) => {
    const found = errorsOf(error).map(([path, text]) => [ownPath(path, fields.current), text] as const);
    const placed = found.flatMap(([path, text]) => (path === null ? [] : [[path, text] as const]));
    if (placed.length === 0 || placed.length < found.length) toastError(error, telling);
    setRefused(new Map(placed));
    setHidden([]);
    setAttempts((count) => count + 1);
  };
  const endAttempts = () => setAttempts(0);
  const reset = () => {
    setRefused(new Map());
    setTouched(new Set());
    setAttempts(0);
  };

  const summary = attempts > 0 &&
    errors.size > 0 && {
      count: errors.size,
      hidden: issues.length > 0 ? hidden : [],
      onShow: () => focusFirstError(form.current),
      fields:
        invalid.length > 1 ? invalid.map((field) => ({ text: labelOf(field), open: () => focusField(field) })) : [],
    };
  return {
    errors,
    isValid: issues.length === 0,
    summary,
    register,
    blur,
    trackPress,
    clear,
    showIssues,
    showResponse,
    endAttempts,
    reset,
  };
}

const isTouched = (path: string, touched: ReadonlySet<string>) =>
  [...touched].some((name) => path === name || path.startsWith(`${name}.`));
