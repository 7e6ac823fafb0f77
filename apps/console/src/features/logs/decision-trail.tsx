import type { Received } from '@edgeloom/contract/endpoint.ts';
import type { logs } from '@edgeloom/contract/logs/logs.endpoints.ts';
import { Skeleton } from '@mantine/core';
import { IconArrowRight, IconCheck, IconEye, IconPointFilled, IconSquareFilled } from '@tabler/icons-react';
import { Link } from 'react-router-dom';
import { objectName } from '../../components/differences/in-words.ts';
import { nameOf, viewOf } from '../../components/simulation/in-words.ts';
import { causeName } from '../../lib/cause-name.ts';
import { tMaybe, useT } from '../../lib/i18n.ts';
import { siteAddress } from '../../lib/site-address.ts';
import { useRuleName } from '../waf/use-rule-name.ts';
import { wafRuleID } from './log-row.ts';
import { VisitorText } from './visitor-text.tsx';
import classes from './decision-trail.module.css';

type LogDetail = Received<typeof logs.request>;
type Step = LogDetail['trail'][number];

const marks = {
  passed: IconCheck,
  served: IconCheck,
  fetched: IconArrowRight,
  applied: IconPointFilled,
  redirected: IconArrowRight,
  answered: IconCheck,
  refused: IconSquareFilled,
  closed: IconSquareFilled,
  exempted: IconCheck,
  wouldBlock: IconEye,
  wouldAllow: IconEye,
  other: IconPointFilled,
} as const;

/** The steps that decided about the request, in order. Undefined while it is loading. */
export function DecisionTrail({ request }: { request: LogDetail | undefined }) {
  const t = useT();
  return (
    <section aria-label={t('logs.trail.title')}>
      <h3 className={classes['head']}>
        {t('logs.trail.title')}
        {request?.microseconds != null && (
          <span>{t('logs.trail.took', { time: request.microseconds.toFixed(1) })}</span>
        )}
      </h3>
      {request === undefined ? (
        <Skeleton height={84} radius={7} />
      ) : (
        <ol className={classes['steps']}>
          {request.trail.map((step, i) => (
            // oxlint-disable-next-line react/no-array-index-key -- a step may appear twice, and the list never changes
            <TrailStep key={i} step={step} request={request} />
          ))}
        </ol>
      )}
    </section>
  );
}

function TrailStep({ step, request }: { step: Step; request: LogDetail }) {
  const t = useT();
  const Mark = marks[step.decision];
  return (
    <li data-decision={step.decision}>
      <Mark size={13} stroke={2} aria-hidden />
      <span className={classes['text']}>
        <b>{stepName(step)}</b> {t(`logs.trail.decisions.${step.decision}`, { status: step.status ?? '' })}
        {step.detail !== '' && (step.step === 'waf' ? <WafRule rule={step.detail} /> : <Detail text={step.detail} />)}
        {step.rule && <TrailRule step={step} rule={step.rule} request={request} />}
      </span>
      <span className={classes['time']}>{step.microseconds?.toFixed(1)}</span>
    </li>
  );
}

function Detail({ text, title }: { text: string; title?: string }) {
  return (
    <span className={classes['detail']} title={title}>
      {' '}
      <VisitorText text={tMaybe(`simulate.whys.${text}`) ?? text} />
    </span>
  );
}

/** The name of a WAF rule, or its ID if the name is unknown. */
function WafRule({ rule }: { rule: string }) {
  const name = useRuleName(true)(wafRuleID(rule));
  return name === undefined ? <Detail text={rule} /> : <Detail text={name} title={rule} />;
}

function stepName({ step }: Step): string {
  const name = nameOf({ step });
  return name === step ? causeName(step) : name;
}

function TrailRule({ step, rule, request }: { step: Step; rule: NonNullable<Step['rule']>; request: LogDetail }) {
  const t = useT();
  const view = viewOf({ step: step.step, rule });
  const name = rule.name === null ? t('logs.trail.removedRule') : objectName(rule.kind, rule.name);
  return (
    <span className={classes['rule']} title={rule.id}>
      {view === undefined || rule.name === null || request.siteID === null ? (
        name
      ) : (
        <Link to={siteAddress({ id: request.siteID, name: request.siteName }, view)}>{name}</Link>
      )}
    </span>
  );
}
