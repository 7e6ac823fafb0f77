// State of the installation form: connection to the machine, and the node.
import { NodeInput, NodeSSHInput } from '@edgeloom/contract/nodes/nodes.ts';
import { useCallback, useMemo, useState } from 'react';
import type * as z from 'zod';
import { ownPath } from '../../components/resource-form/error-paths.ts';
import { withValue, type FormState, type Values } from '../../components/resource-form/form-state.ts';
import { fieldErrorsOf, ruleText } from '../../lib/errors.ts';
import { defaultsOf, issuesOf } from '../../lib/schema.ts';
import type { EdgeNode } from '../nodes/node-states.ts';

export type FormStep = 'address' | 'hostKey' | 'place';

const schema = NodeInput.omit({ ssh: true }).extend(NodeSSHInput.shape);
const secrets = ['password', 'privateKey'];
const fieldsOf: Readonly<Record<FormStep, readonly string[]>> = {
  address: ['name', 'ip', 'port', 'user', ...secrets],
  hostKey: ['fingerprint'],
  place: ['zoneID', 'kind', 'relayPort', 'role', 'portType', 'bandwidthMbps', 'memo'],
};
const steps: readonly FormStep[] = ['address', 'hostKey', 'place'];
const none: ReadonlyMap<string, string> = new Map();
const everyField = new Set(steps.flatMap((step) => fieldsOf[step]));

export type InstallInput = z.output<typeof schema>;

/** Initial values: the existing node, or a new one in the zone. */
export function startOf(node: EdgeNode | null, zoneID: string | null): Values {
  const ssh = { port: 22, user: 'root', ...node?.ssh };
  return { ...defaultsOf(schema), ...(zoneID !== null && { zoneID }), ...node, ...ssh };
}

export function useInstallForm(start: Values) {
  const [values, setValues] = useState(start);
  const [shown, setShown] = useState<ReadonlySet<string>>(new Set());
  const [refused, setRefused] = useState(none);

  const typed = useMemo(
    () => Object.fromEntries(Object.entries(values).filter(([name, value]) => value !== '' || !secrets.includes(name))),
    [values],
  );
  const issues = useMemo(() => issuesOf(schema, typed), [typed]);
  const errors = useMemo(() => {
    const found = issues.filter(({ path }) => shown.has(path));
    return new Map([
      ...found.map(({ path, rule, message, values: numbers }) => [path, ruleText(rule, message, numbers)] as const),
      ...refused,
    ]);
  }, [issues, shown, refused]);

  const set = useCallback((name: string, value: unknown) => {
    setValues((before) => withValue(before, name, value));
    setRefused((before) => new Map([...before].filter(([path]) => path !== name)));
  }, []);
  const show = useCallback((...names: string[]) => setShown((before) => new Set([...before, ...names])), []);

  /** Validates a step and shows errors at their fields. */
  const check = (step: FormStep, { needsCredential = false } = {}): boolean => {
    show(...fieldsOf[step]);
    const lacksCredential = needsCredential && secrets.every((name) => typed[name] === undefined);
    if (lacksCredential) setRefused(new Map([['password', ruleText('required', '')]]));
    return !lacksCredential && !issues.some(({ path }) => fieldsOf[step].includes(path));
  };
  /** Shows server errors at their fields. Returns the first step with an error, or null. */
  const refuse = (error: unknown): FormStep | null => {
    const placed = fieldErrorsOf(error).flatMap(({ path, rule, message }) => {
      const own = ownPath(path, everyField);
      return own === null ? [] : [[own, ruleText(rule, message)] as const];
    });
    setRefused(new Map(placed));
    return steps.find((step) => placed.some(([path]) => fieldsOf[step].includes(path))) ?? null;
  };
  const stateOf = (words: string, busy: boolean): FormState => ({
    words,
    schema,
    asNew: schema,
    values,
    params: undefined,
    busy,
    set,
    blur: show,
    register: () => () => undefined,
    errors,
  });
  /** Request bodies; null while invalid. */
  const parsed = schema.safeParse(typed);
  return { values, input: parsed.data ?? null, isDirty: values !== start, set, check, refuse, stateOf };
}
