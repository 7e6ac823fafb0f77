// State of the installation form: connection to the machine, and the node.
import { NodeInput, NodeSSHInput } from '@edgeloom/contract/nodes/nodes.ts';
import { useCallback, useMemo, useState } from 'react';
import * as z from 'zod';
import { ownPath } from '../../components/resource-form/error-paths.ts';
import { withValue, type FormState, type Values } from '../../components/resource-form/form-state.ts';
import { usePress } from '../../components/resource-form/use-press.ts';
import { useStoredDraft } from '../../lib/drafts.ts';
import { fieldErrorsOf, ruleText } from '../../lib/errors.ts';
import { defaultsOf, issuesOf, withoutSecrets } from '../../lib/schema.ts';
import type { EdgeNode } from '../nodes/node-states.ts';

export type FormStep = 'address' | 'hostKey' | 'place';
/** Over SSH, or by a command that the operator runs on the machine. */
type InstallMethod = z.output<typeof StoredDraft>['method'];
type CredentialKind = z.output<typeof StoredDraft>['credential'];
export type InstallForm = ReturnType<typeof useInstallForm>;

const schema = NodeInput.omit({ ssh: true }).extend(NodeSSHInput.shape);
type InstallInput = z.output<typeof schema>;
const secrets = ['password', 'privateKey'];
const fieldsOf: Readonly<Record<FormStep, readonly string[]>> = {
  address: ['name', 'ip', 'port', 'user', ...secrets],
  hostKey: ['fingerprint'],
  place: ['zoneID', 'kind', 'relayPort', 'role', 'portType', 'bandwidthMbps', 'memo'],
};
const steps: readonly FormStep[] = ['address', 'hostKey', 'place'];
const none: ReadonlyMap<string, string> = new Map();
const everyField = new Set(steps.flatMap((step) => fieldsOf[step]));

/** Initial values: the existing node, or a new one in the zone. */
export function initialValues(node: EdgeNode | null, zoneID: string | null): Values {
  const ssh = { port: 22, user: 'root', ...node?.ssh };
  return { ...defaultsOf(schema), ...(zoneID !== null && { zoneID }), ...node, ...ssh };
}

/** Input that is kept in the browser over a reload. It has no passwords and keys. */
const StoredDraft = z.object({
  values: z.record(z.string(), z.unknown()),
  method: z.enum(['ssh', 'command']),
  credential: z.enum(['password', 'key']),
});
const isStoredDraft = (stored: unknown): stored is z.output<typeof StoredDraft> =>
  StoredDraft.safeParse(stored).success;

export function useInstallForm(initial: Values, draftKey: string) {
  const restored = useStoredDraft(draftKey, isStoredDraft);
  const [isRestored, setRestored] = useState(restored !== null);
  const [values, setValues] = useState<Values>(
    restored ? { ...initial, ...withoutSecrets(schema, restored.values) } : initial,
  );
  const [method, setMethod] = useState<InstallMethod>(restored?.method ?? 'ssh');
  const [credential, setCredential] = useState<CredentialKind>(restored?.credential ?? 'password');
  const [shown, setShown] = useState<ReadonlySet<string>>(new Set());
  const [refused, setRefused] = useState(none);

  const submitted = useMemo(
    () => withoutHidden({ values, initial, hidden: hiddenFields(method, credential, values['kind']) }),
    [values, initial, method, credential],
  );
  const issues = useMemo(() => issuesOf(schema, submitted), [submitted]);
  const errors = useMemo(() => {
    const found = issues.filter(({ path }) => shown.has(path));
    return new Map([
      ...found.map(({ path, rule, message, values: numbers }) => [path, ruleText(rule, message, numbers)] as const),
      ...refused,
    ]);
  }, [issues, shown, refused]);

  const set = useCallback(
    (name: string, value: unknown) => {
      setValues((before) => ({
        ...withValue(before, name, value),
        // A host key that was accepted for another address does not count.
        ...(['ip', 'port'].includes(name) && { fingerprint: initial['fingerprint'] }),
      }));
      setRefused((before) => new Map([...before].filter(([path]) => path !== name)));
    },
    [initial],
  );
  const press = usePress();
  const show = useCallback((...names: string[]) => setShown((before) => new Set([...before, ...names])), []);

  /** Validates a step and shows errors at their fields. */
  const check = (step: FormStep, { needsCredential = false } = {}): boolean => {
    show(...fieldsOf[step]);
    const lacksCredential = needsCredential && secrets.every((name) => submitted[name] === undefined);
    if (lacksCredential) setRefused(new Map([['password', ruleText('required', '')]]));
    return !lacksCredential && !issues.some(({ path }) => fieldsOf[step].includes(path));
  };
  /** Shows server errors at their fields. Returns the first step with an error, or null. */
  const showErrors = (error: unknown): FormStep | null => {
    const placed = fieldErrorsOf(error).flatMap(({ path, rule, message, values: numbers }) => {
      const own = ownPath(path, everyField);
      return own === null ? [] : [[own, ruleText(rule, message, numbers)] as const];
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
    blur: (name) => press.afterPress(() => show(name)),
    register: () => () => undefined,
    errors,
  });
  const discard = () => {
    setValues(initial);
    setShown(new Set());
    setRefused(none);
    setRestored(false);
  };
  const { data } = schema.safeParse(submitted);
  return {
    values,
    trackPress: press.start,
    /** The parts of request bodies; null while a field is invalid. */
    input: data ? inputOf(data) : null,
    isDirty: values !== initial,
    isRestored,
    draft: () => ({ values: withoutSecrets(schema, values), method, credential }),
    discard,
    method,
    setMethod,
    credential,
    setCredential,
    set,
    check,
    showErrors,
    stateOf,
  };
}

function hiddenFields(method: InstallMethod, credential: CredentialKind, kind: unknown): string[] {
  return [
    ...(method === 'command' ? ['port', 'user', ...secrets] : []),
    ...(credential === 'password' ? ['privateKey'] : []),
    ...(kind === 'relay' ? [] : ['relayPort']),
  ];
}

/** Hidden fields keep their initial value, so that no error is where nobody sees it. An empty secret is none. */
function withoutHidden({ values, initial, hidden }: { values: Values; initial: Values; hidden: readonly string[] }) {
  const submitted = { ...values, ...Object.fromEntries(hidden.map((name) => [name, initial[name]])) };
  return Object.fromEntries(
    Object.entries(submitted).filter(([name, value]) => value !== '' || !secrets.includes(name)),
  );
}

function inputOf({ port, user, password, privateKey, fingerprint, zoneID, ...node }: InstallInput) {
  const ssh = {
    port,
    user,
    ...(fingerprint != null && { fingerprint }),
    ...(password !== undefined && { password }),
    ...(privateKey !== undefined && { privateKey }),
  };
  return { node, zoneID, ssh };
}
