// State of the wizard that adds domains: its step, the input of each step, and the creation.
import { useState } from 'react';
import type { SiteInfo } from '../../components/frame/site-scope.ts';
import { newOrigin, templateFaults, upstreamsOf } from '../../components/origins/origins.ts';
import { useKeepDraft, useStoredDraft } from '../../lib/drafts.ts';
import { fieldErrorsOf, multipleOf, ruleText, toastError } from '../../lib/errors.ts';
import { count } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { toast } from '../../stores/toasts.ts';
import { useCoverage, type CertificateChoice } from './certificate-step.tsx';
import { cleanNames } from './names.ts';
import { useNameVerdicts } from './names-step.tsx';
import type { Template } from './template-step.tsx';
import { useCreation, type Creation } from './use-creation.ts';

export const NAMES = 0;
export const ORIGIN = 1;
export const CERTIFICATE = 2;
export const REVIEW = 3;
export const DONE = 4;

export type DomainsWizard = ReturnType<typeof useDomainsWizard>;

export function useDomainsWizard(site: SiteInfo) {
  const t = useT();
  const [step, setStep] = useState(NAMES);
  /** Errors of the current step are shown once the next one was tried. */
  const [isTried, setTried] = useState(false);
  const names = useNamesInput(site, step === DONE);
  const template = useTemplate(isTried);
  const certificate = useCertificateChoice(site, names.list, step >= CERTIFICATE);
  const [result, setResult] = useState<Creation | null>(null);
  const { run, progress } = useCreation(site.id);

  const isValid = [names.error === null, template.isValid, certificate.isValid];
  const next = () => {
    const canLeave = isValid[step] ?? true;
    setTried(!canLeave);
    if (canLeave) setStep(step + 1);
    return canLeave;
  };
  const submit = async () => {
    const invalidStep = isValid.indexOf(false);
    if (invalidStep >= 0) return setStep(invalidStep);
    const creation = await run(names.list, template.body, certificate.order);
    if (creation.made.length > 0) toast({ text: t('domains.add.done', { count: creation.made.length }) });
    if (creation.failure === null) {
      setResult(creation);
      return setStep(DONE);
    }
    names.removeCreated(creation);
    setTried(true);
    const isNameRefused = names.showErrors(creation.failure);
    const isTemplateRefused = template.showErrors(creation.failure);
    if (isNameRefused) setStep(NAMES);
    else if (isTemplateRefused) setStep(ORIGIN);
    else toastError(creation.failure);
  };
  return { step, setStep, isTried, names, template, certificate, next, submit, progress, result };
}

/** The typed names. They are kept in the browser until they are created. */
function useNamesInput({ id: siteId, domainLimit, domainCount }: SiteInfo, isDone: boolean) {
  const t = useT();
  const draftKey = `names ${siteId}`;
  const restored = useStoredDraft(draftKey, isText);
  const [isRestored, setRestored] = useState(restored !== null);
  const [text, setText] = useState(restored ?? '');
  useKeepDraft(draftKey, () => (text.trim() === '' || isDone ? undefined : text));
  /** Errors of the response by name. */
  const [refused, setRefused] = useState<ReadonlyMap<string, string>>(new Map());
  const { lines, repeated } = useNameVerdicts(siteId, text, refused);
  const list = lines.map(({ name }) => name);
  const invalid = lines.filter(({ fault }) => fault !== null).length;
  const left = domainLimit === 0 ? Number.POSITIVE_INFINITY : Math.max(0, domainLimit - domainCount);

  const errorOf = () => {
    if (list.length === 0) return ruleText('required', '');
    if (invalid > 0) return t('domains.add.fixFirst', { count: invalid });
    if (list.length > left) return t('domains.add.tooMany', { count: count(list.length), left: count(left) });
    return null;
  };
  return {
    text,
    lines,
    repeated,
    list,
    error: errorOf(),
    isRestored,
    type: (typed: string) => {
      setText(typed);
      // A removed and re-added line is validated again.
      const remaining = new Set(cleanNames(typed));
      setRefused(new Map([...refused].filter(([name]) => remaining.has(name))));
    },
    discard: () => {
      setText('');
      setRestored(false);
    },
    removeCreated: ({ made }: Creation) => {
      const created = new Set(made.map(({ name }) => name));
      setText(list.filter((name) => !created.has(name)).join('\n'));
    },
    /** Returns whether an error belongs to a name. */
    showErrors: (error: unknown) => {
      const entries = multipleOf(error);
      setRefused(new Map(entries.flatMap(({ targets, text: why }) => targets.map((name) => [name, why] as const))));
      return entries.length > 0;
    },
  };
}

/** The origins that all new domains get. */
function useTemplate(isTried: boolean) {
  const [value, setValue] = useState<Template>(() => ({
    origins: [newOrigin(443)],
    scheme: 'https',
    portMap: [],
    isProtocolGuess: true,
    isPortGuess: true,
  }));
  /** Errors of the response by path. */
  const [refused, setRefused] = useState<ReadonlyMap<string, string>>(new Map());
  const { origins, scheme, portMap } = value;
  const { isGood, fault } = templateFaults(origins, refused, isTried);
  return {
    value,
    isValid: isGood && (scheme !== 'follow' || portMap.length > 0),
    fault,
    portMapFault: refused.get('portMap'),
    body: { upstreams: upstreamsOf(origins), scheme, portMap: scheme === 'follow' ? portMap : [] },
    change: (changed: Template) => {
      setValue(changed);
      setRefused(new Map());
    },
    /** Returns whether an error belongs to the template. */
    showErrors: (error: unknown) => {
      const placed = fieldErrorsOf(error).filter(({ path }) => /^(upstreams\.|portMap)/.test(path));
      setRefused(new Map(placed.map(({ path, rule, message }) => [path, ruleText(rule, message)])));
      return placed.length > 0;
    },
  };
}

/** The certificate of the new domains. Without a choice, one is ordered if possible. */
function useCertificateChoice(site: SiteInfo, names: readonly string[], isNeeded: boolean) {
  const [choice, setChoice] = useState<CertificateChoice | null>(null);
  const coverage = useCoverage(site, names, isNeeded);
  const value: CertificateChoice = choice ?? { kind: coverage.orderable.length > 0 ? 'automatic' : 'none' };
  const existing = value.kind === 'existing' ? coverage.fitting.find(({ id }) => id === value.id) : undefined;
  return {
    value,
    setChoice,
    coverage,
    existing,
    isValid: value.kind !== 'existing' || existing !== undefined,
    order: {
      kind: value.kind,
      certId: existing?.id ?? null,
      names: value.kind === 'automatic' ? coverage.orderable : (existing?.covered ?? []),
    },
  };
}

const isText = (stored: unknown): stored is string => typeof stored === 'string';
