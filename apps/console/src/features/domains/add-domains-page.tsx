import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { Button, Progress } from '@mantine/core';
import { useRef, useState } from 'react';
import { Link } from 'react-router-dom';
import { useSite } from '../../components/frame/site-scope.ts';
import { LeaveGuard } from '../../components/leave-guard/leave-guard.tsx';
import { newOrigin, templateFaults, upstreamsOf } from '../../components/origins/origins.ts';
import { Fact, Facts } from '../../components/page/facts.tsx';
import { Page } from '../../components/page/page.tsx';
import { DraftNotice } from '../../components/resource-form/draft-notice.tsx';
import { ForbiddenState } from '../../components/states/states.tsx';
import { Steps } from '../../components/steps/steps.tsx';
import { useKeepDraft, useStoredDraft } from '../../lib/drafts.ts';
import { fieldErrorsOf, multipleOf, ruleText, toastError } from '../../lib/errors.ts';
import { count } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { siteAddress } from '../../lib/site-address.ts';
import { useCan } from '../../lib/use-can.ts';
import { toast } from '../../stores/toasts.ts';
import { StaticFilesOffer } from '../cache/static-files-offer.tsx';
import classes from './add-domains.module.css';
import { CertificateStep, useCoverage, type CertificateChoice } from './certificate-step.tsx';
import { CnameResults } from './cname-results.tsx';
import { cleanNames } from './names.ts';
import { NamesStep, useNameVerdicts } from './names-step.tsx';
import { TemplateStep, type Template } from './template-step.tsx';
import { useCreation, type Creation } from './use-creation.ts';

const NAMES = 0;
const ORIGIN = 1;
const CERTIFICATE = 2;
const REVIEW = 3;
const DONE = 4;
/** Number of names to list in the review. */
const SHOWN = 8;

export function AddDomainsPage() {
  const can = useCan();
  return (
    <Page title="domains.create">
      {can(domains.createSimple) ? <Wizard /> : <ForbiddenState permission={domains.createSimple.can} />}
    </Page>
  );
}

const isText = (kept: unknown): kept is string => typeof kept === 'string';
const nothing: ReadonlyMap<string, string> = new Map();

/** A wizard: names, origin template, certificate. Going back keeps the input. */
function Wizard() {
  const t = useT();
  const site = useSite();
  const { id: siteId, domainLimit, domainCount } = site;
  const [step, setStep] = useState(NAMES);
  const draftKey = `names ${siteId}`;
  const restored = useStoredDraft(draftKey, isText);
  const [isRestored, setRestored] = useState(restored !== null);
  const [text, setText] = useState(restored ?? '');
  useKeepDraft(draftKey, () => (text.trim() === '' || step === DONE ? undefined : text));
  const [template, setTemplate] = useState<Template>(() => ({
    origins: [newOrigin(443)],
    scheme: 'https',
    portMap: [],
    isProtocolGuess: true,
    isPortGuess: true,
  }));
  const [choice, setChoice] = useState<CertificateChoice | null>(null);
  const [tried, setTried] = useState(false);
  /** Errors from the server, by line and by field. */
  const [refused, setRefused] = useState(nothing);
  const [faults, setFaults] = useState(nothing);
  const [result, setResult] = useState<Creation | null>(null);
  const { run, progress } = useCreation(siteId);
  const form = useRef<HTMLFormElement>(null);

  const { lines, repeated } = useNameVerdicts(siteId, text, refused);
  const names = lines.map(({ name }) => name);
  const bad = lines.filter(({ fault }) => fault !== null).length;
  const left = domainLimit === 0 ? Number.POSITIVE_INFINITY : Math.max(0, domainLimit - domainCount);
  const coverage = useCoverage(site, names, step >= CERTIFICATE);
  const certificate: CertificateChoice =
    choice ?? (coverage.orderable.length > 0 ? { kind: 'automatic' } : { kind: 'none' });
  const chosen = certificate.kind === 'existing' ? coverage.fitting.find(({ id }) => id === certificate.id) : undefined;
  const { isGood, fault } = templateFaults(template.origins, faults, tried);
  const { origins, scheme, portMap } = template;

  const problem = [
    () => {
      if (names.length === 0) return ruleText('required', '');
      if (bad > 0) return t('domains.add.mendFirst', { count: bad });
      return names.length > left && t('domains.add.tooMany', { count: count(names.length), left: count(left) });
    },
    () => !isGood || (scheme === 'follow' && portMap.length === 0),
    () => certificate.kind === 'existing' && !chosen,
  ];
  const next = () => {
    if (problem[step]?.()) {
      setTried(true);
      requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
      return;
    }
    setTried(false);
    setStep(step + 1);
  };
  const certificateChoice = {
    kind: certificate.kind,
    certId: chosen?.id ?? null,
    names: certificate.kind === 'automatic' ? coverage.orderable : (chosen?.covered ?? []),
  };

  const submit = async () => {
    if (problem.some((has) => has())) return setStep(problem.findIndex((has) => has()));
    const upstreams = upstreamsOf(origins);
    const body = { upstreams, scheme, portMap: scheme === 'follow' ? portMap : [] };
    const creation = await run(names, body, certificateChoice);
    if (creation.made.length > 0) toast({ text: t('domains.add.done', { count: creation.made.length }) });
    if (creation.failure === null) {
      setResult(creation);
      return setStep(DONE);
    }
    // Created names leave the text; the others stay with their errors.
    const there = new Set(creation.made.map(({ name }) => name));
    setText(names.filter((name) => !there.has(name)).join('\n'));
    const entries = multipleOf(creation.failure);
    const placed = fieldErrorsOf(creation.failure).filter(({ path }) => /^(upstreams\.|portMap)/.test(path));
    setRefused(new Map(entries.flatMap(({ targets, text: why }) => targets.map((name) => [name, why] as const))));
    setFaults(new Map(placed.map(({ path, rule, message }) => [path, ruleText(rule, message)])));
    setTried(true);
    if (entries.length > 0) setStep(NAMES);
    else if (placed.length > 0) setStep(ORIGIN);
    else toastError(creation.failure);
  };

  const [first] = origins;
  const namesError = tried && step === NAMES && problem[NAMES]?.();
  const certificateWord = certificateIn(t, certificate, chosen?.name, certificateChoice.names.length, names.length);
  const originWord = first
    ? `${t(`domains.choices.scheme.${scheme}`)} · ${first.address}:${first.port}${origins.length > 1 ? ` +${origins.length - 1}` : ''}`
    : '';
  return (
    <>
      <LeaveGuard when={text.trim() !== '' && step !== DONE} />
      <Steps
        current={step}
        {...(step !== DONE && progress === null && { onBack: setStep })}
        steps={[
          { title: 'domains.add.names', result: t('domains.add.namesResult', { count: names.length }) },
          { title: 'domains.add.origin', result: originWord },
          { title: 'domains.https.certificate', result: certificateWord },
          { title: 'domains.add.review' },
        ]}
      >
        {result ? (
          <Outcome creation={result} />
        ) : (
          <form
            ref={form}
            noValidate
            className={classes['form']}
            onSubmit={(event) => {
              event.preventDefault();
              if (step === REVIEW) void submit();
              else next();
            }}
          >
            {isRestored && step === NAMES && (
              <DraftNotice
                onDiscard={() => {
                  setText('');
                  setRestored(false);
                }}
              />
            )}
            <div className={classes['step']}>
              {step === NAMES && (
                <NamesStep
                  text={text}
                  lines={lines}
                  repeated={repeated}
                  error={typeof namesError === 'string' && namesError}
                  onChange={(given) => {
                    setText(given);
                    // A removed and re-added line is validated again.
                    const remaining = new Set(cleanNames(given));
                    setRefused(new Map([...refused].filter(([name]) => remaining.has(name))));
                  }}
                />
              )}
              {step === ORIGIN && (
                <TemplateStep
                  siteId={siteId}
                  value={template}
                  host={names.find((name) => !name.startsWith('*.')) ?? null}
                  fault={fault}
                  portMapFault={faults.get('portMap')}
                  onChange={(value) => {
                    setTemplate(value);
                    setFaults(nothing);
                  }}
                />
              )}
              {step === CERTIFICATE && (
                <CertificateStep
                  value={certificate}
                  names={names}
                  coverage={coverage}
                  error={tried && !chosen ? ruleText('required', '') : undefined}
                  onChange={setChoice}
                />
              )}
              {step === REVIEW && (
                <ReviewStep names={names} origin={originWord} certificate={certificateWord} progress={progress} />
              )}
            </div>
            <footer className={classes['buttons']}>
              {step > NAMES && (
                <Button variant="default" disabled={progress !== null} onClick={() => setStep(step - 1)}>
                  {t('common.back')}
                </Button>
              )}
              <Button type="submit" loading={progress !== null}>
                {step === REVIEW ? t('domains.add.submit', { count: names.length }) : t('common.next')}
              </Button>
            </footer>
          </form>
        )}
      </Steps>
    </>
  );
}

interface ReviewStepProps {
  names: readonly string[];
  origin: string;
  certificate: string;
  /** Number of names created so far; null before. */
  progress: number | null;
}

function ReviewStep({ names, origin, certificate, progress }: ReviewStepProps) {
  const t = useT();
  return (
    <>
      <Facts>
        <Fact term={t('domains.fields.names')} wide>
          {names.slice(0, SHOWN).join('  ')}
          {names.length > SHOWN && ` ${t('domains.add.more', { count: names.length - SHOWN })}`}
        </Fact>
        <Fact term={t('domains.add.origin')}>{origin}</Fact>
        <Fact term={t('domains.https.certificate')}>{certificate}</Fact>
      </Facts>
      <p className={classes['probe']}>{t('domains.add.allOrNone')}</p>
      {progress !== null && (
        <Progress
          value={(progress / names.length) * 100}
          aria-label={t('domains.add.progress', { done: progress, all: names.length })}
        />
      )}
    </>
  );
}

function certificateIn(
  t: ReturnType<typeof useT>,
  { kind }: CertificateChoice,
  name: string | undefined,
  covered: number,
  all: number,
) {
  if (kind === 'none') return t('domains.add.later');
  const chosen = kind === 'automatic' ? t('domains.add.automatic') : (name ?? '');
  return covered === all ? chosen : t('domains.add.covers', { name: chosen, count: covered, all });
}

/** The customer must now point the names to this CNAME target. */
function Outcome({ creation: { made, waiting, certificateFailure } }: { creation: Creation }) {
  const t = useT();
  const site = useSite();
  return (
    <>
      {certificateFailure !== null && (
        <p className={classes['warning']} role="alert">
          {t('domains.add.noCertificate', { why: certificateFailure })}
        </p>
      )}
      {waiting.length > 0 && (
        <p className={classes['warning']} role="alert">
          {t('domains.add.waiting', { count: waiting.length })}
        </p>
      )}
      <CnameResults siteId={site.id} cname={site.cname} rows={made} />
      {made.length > 0 && <StaticFilesOffer />}
      <footer className={classes['buttons']}>
        <Button component={Link} to={siteAddress(site, 'domains')}>
          {t('domains.add.toList')}
        </Button>
      </footer>
    </>
  );
}
