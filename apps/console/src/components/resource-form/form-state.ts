import { createContext, useContext, useEffect, useId } from 'react';
import { fieldOf, hasDefault, isObject, isOptional, valueAt } from '../../lib/schema.ts';
import { fieldTitle } from '../resource-table/columns.tsx';
import { tMaybe } from '../../lib/i18n.ts';

export type Values = Readonly<Record<string, unknown>>;

export interface FormState {
  words: string;
  schema: unknown;
  /** The creation schema. An update may omit fields, but must not empty them. */
  asNew: unknown;
  values: Values;
  params: Readonly<Record<string, string>> | undefined;
  busy: boolean;
  set: (name: string, value: unknown) => void;
  blur: (name: string) => void;
  register: (name: string) => () => void;
  /** Visible errors by path. */
  errors: ReadonlyMap<string, string>;
}
export const FormContext = createContext<FormState | null>(null);

export function useForm(): FormState {
  const form = useContext(FormContext);
  if (!form) throw new Error('A field stands in a ResourceForm');
  return form;
}

/** A copy with the value at `path` replaced. */
export function withValue(values: Values, path: string, value: unknown): Values {
  const [name = '', ...rest] = path.split('.');
  if (rest.length === 0) return { ...values, [name]: value };
  const inner = values[name];
  const inside = rest.join('.');
  if (Array.isArray(inner)) {
    const [index = '', ...deeper] = rest;
    return {
      ...values,
      [name]: inner.map((item: unknown, i) =>
        String(i) !== index ? item : deeper.length === 0 ? value : withValue(recordOf(item), deeper.join('.'), value),
      ),
    };
  }
  return { ...values, [name]: withValue(recordOf(inner), inside, value) };
}
const recordOf = (value: unknown): Values =>
  typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};

export interface Field {
  /** False if the body has no such field: updates may accept fewer fields. */
  accepted: boolean;
  value: unknown;
  set: (value: unknown) => void;
  /** Errors within the value, such as `2` or `2.port` of a list. */
  inner: ReadonlyMap<string, string>;
  schema: unknown;
  params: FormState['params'];
  optional: boolean;
  /** Props for Mantine inputs. */
  input: {
    id: string;
    name: string;
    label: string;
    description: string | null;
    error: string | null;
    disabled: boolean;
    required: boolean;
    withAsterisk: false;
    onBlur: () => void;
  };
}

/** `upstreams.0.port` uses the label of `upstreams.port`. */
const withoutIndexes = (path: string) => path.replace(/(^|\.)\d+(?=\.|$)/g, '').replace(/^\./, '');

/** Value, label, error and schema of one field of the surrounding form. */
export function useField(name: string): Field {
  const form = useForm();
  const { register } = form;
  useEffect(() => register(name), [register, name]);
  const id = useId();
  const schema = fieldOf(form.schema, name);
  const accepted = !isObject(form.schema) || schema !== undefined;
  const inner = new Map(
    [...form.errors]
      .filter(([path]) => path.startsWith(`${name}.`))
      .map(([path, text]) => [path.slice(name.length + 1), text]),
  );
  const word = withoutIndexes(name);
  const asNew = fieldOf(form.asNew, name) ?? schema;
  const optional = isOptional(asNew) && !hasDefault(asNew);
  return {
    accepted,
    value: valueAt(form.values, name),
    set: (value) => form.set(name, value),
    inner,
    schema,
    params: form.params,
    optional,
    input: {
      id,
      name,
      label: fieldTitle(form.words, word),
      description: tMaybe(`${form.words}.hints.${word}`),
      error: form.errors.get(name) ?? null,
      disabled: form.busy,
      required: !isOptional(asNew),
      withAsterisk: false,
      onBlur: () => form.blur(name),
    },
  };
}
