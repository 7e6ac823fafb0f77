import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { Button, Progress } from '@mantine/core';
import { useRef } from 'react';
import { Link } from 'react-router-dom';
import { useSite } from '../../components/frame/site-scope.ts';
import { LeaveGuard } from '../../components/leave-guard/leave-guard.tsx';
import { Fact, Facts } from '../../components/page/facts.tsx';
import { Page } from '../../components/page/page.tsx';
import { DraftNotice } from '../../components/resource-form/draft-notice.tsx';
import { showInNextList } from '../../components/resource-table/new-rows.ts';
import { ForbiddenState } from '../../components/states/states.tsx';
import { Steps } from '../../components/steps/steps.tsx';
import { ruleText } from '../../lib/errors.ts';
import { useT, type T } from '../../lib/i18n.ts';
import { siteAddress } from '../../lib/site-address.ts';
import { useCan } from '../../lib/use-can.ts';
import { StaticFilesOffer } from '../cache/static-files-offer.tsx';
import classes from './add-domains.module.css';
import { CertificateStep } from './certificate-step.tsx';
import { CnameResults } from './cname-results.tsx';
import { NamesStep } from './names-step.tsx';
import { TemplateStep } from './template-step.tsx';
import type { Creation } from './use-creation.ts';
import {
  CERTIFICATE,
  DONE,
  NAMES,
  ORIGIN,
  REVIEW,
  useDomainsWizard,
  type DomainsWizard,
} from './use-domains-wizard.ts';

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

/** A wizard: names, origin template, certificate. Going back keeps the input. */
function Wizard() {
  const t = useT();
  const wizard = useDomainsWizard(useSite());
  const { step, names, progress, result } = wizard;
  return (
    <>
      <LeaveGuard when={names.text.trim() !== '' && step !== DONE} />
      <Steps
        current={step}
        {...(step !== DONE && progress === null && { onBack: wizard.setStep })}
        steps={[
          { title: 'domains.add.names', result: t('domains.add.namesResult', { count: names.list.length }) },
          { title: 'domains.add.origin', result: originSummary(wizard, t) },
          { title: 'domains.https.certificate', result: certificateSummary(wizard, t) },
          { title: 'domains.add.review' },
        ]}
      >
        {result ? <Outcome creation={result} /> : <StepForm wizard={wizard} />}
      </Steps>
    </>
  );
}

/** The fields of the current step, with the buttons that move on. */
function StepForm({ wizard }: { wizard: DomainsWizard }) {
  const { step, setStep, names, progress, next, submit } = wizard;
  const t = useT();
  const form = useRef<HTMLFormElement>(null);
  const goOn = () => {
    if (step === REVIEW) void submit();
    else if (!next())
      requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
  };
  return (
    <form
      ref={form}
      noValidate
      className={classes['form']}
      onSubmit={(event) => {
        event.preventDefault();
        goOn();
      }}
    >
      {names.isRestored && step === NAMES && <DraftNotice onDiscard={names.discard} />}
      <div className={classes['step']}>
        <StepFields wizard={wizard} />
      </div>
      <footer className={classes['buttons']}>
        {step > NAMES && (
          <Button variant="default" disabled={progress !== null} onClick={() => setStep(step - 1)}>
            {t('common.back')}
          </Button>
        )}
        <Button type="submit" loading={progress !== null}>
          {step === REVIEW ? t('domains.add.submit', { count: names.list.length }) : t('common.next')}
        </Button>
      </footer>
    </form>
  );
}

function StepFields({ wizard }: { wizard: DomainsWizard }) {
  const { step, isTried, names, template, certificate } = wizard;
  const site = useSite();
  if (step === NAMES)
    return (
      <NamesStep
        text={names.text}
        lines={names.lines}
        repeated={names.repeated}
        error={isTried && (names.error ?? false)}
        onChange={names.type}
      />
    );
  if (step === ORIGIN)
    return (
      <TemplateStep
        siteId={site.id}
        value={template.value}
        host={names.list.find((name) => !name.startsWith('*.')) ?? null}
        fault={template.fault}
        portMapFault={template.portMapFault}
        onChange={template.change}
      />
    );
  if (step === CERTIFICATE)
    return (
      <CertificateStep
        value={certificate.value}
        names={names.list}
        coverage={certificate.coverage}
        error={isTried && !certificate.existing ? ruleText('required', '') : undefined}
        onChange={certificate.setChoice}
      />
    );
  return <ReviewStep wizard={wizard} />;
}

function ReviewStep({ wizard }: { wizard: DomainsWizard }) {
  const { progress } = wizard;
  const names = wizard.names.list;
  const t = useT();
  return (
    <>
      <Facts>
        <Fact term={t('domains.fields.names')} wide>
          {names.slice(0, SHOWN).join('  ')}
          {names.length > SHOWN && ` ${t('domains.add.more', { count: names.length - SHOWN })}`}
        </Fact>
        <Fact term={t('domains.add.origin')}>{originSummary(wizard, t)}</Fact>
        <Fact term={t('domains.https.certificate')}>{certificateSummary(wizard, t)}</Fact>
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

function originSummary({ template: { value } }: DomainsWizard, t: T) {
  const { origins, scheme } = value;
  const [first] = origins;
  if (!first) return '';
  const others = origins.length > 1 ? ` +${origins.length - 1}` : '';
  return `${t(`domains.choices.scheme.${scheme}`)} · ${first.address}:${first.port}${others}`;
}

function certificateSummary({ certificate: { value, existing, order }, names }: DomainsWizard, t: T) {
  if (value.kind === 'none') return t('domains.add.later');
  const name = value.kind === 'automatic' ? t('domains.add.automatic') : (existing?.name ?? '');
  const [covered, all] = [order.names.length, names.list.length];
  return covered === all ? name : t('domains.add.covers', { name, count: covered, all });
}

/** The customer must now point the names to this CNAME target. */
function Outcome({ creation: { made, waiting, certificateFailure } }: { creation: Creation }) {
  const t = useT();
  const site = useSite();
  const show = () =>
    showInNextList({
      feature: domains.list.feature,
      ids: made.map(({ id }) => id),
      name: made.length === 1 ? (made[0]?.name ?? null) : null,
    });
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
        <Button component={Link} to={siteAddress(site, 'domains')} onClick={show}>
          {t('domains.add.toList')}
        </Button>
      </footer>
    </>
  );
}
