import type { Simulation } from '@edgeloom/contract/simulate/simulate.ts';
import { Button } from '@mantine/core';
import { useState, type MouseEvent, type ReactNode } from 'react';
import { Link, useLocation } from 'react-router-dom';
import { objectName } from '../differences/in-words.ts';
import { StatusMark } from '../status/status-mark.tsx';
import { CodeBox } from '../values/code-box.tsx';
import { took } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { nameOf, outcomeOf, toneOf, viewOf } from './in-words.ts';
import classes from './simulation.module.css';

type Step = Simulation['steps'][number];

/** Most steps take less than a millisecond. */
const micro = (microseconds: number) => (microseconds < 1000 ? `${microseconds} µs` : took(microseconds / 1000));
const linesOf = (headers: readonly { name: string; value: string }[]) =>
  headers.map(({ name, value }) => `${name}: ${value}`).join('\n');

interface SimulationViewProps {
  simulation: Simulation;
  /** A link to a rule was clicked, which opens in this tab. */
  onRuleLinkClick?: (() => void) | undefined;
  /** Shows what the firewall found. */
  renderFinding?: ((step: Step) => ReactNode) | undefined;
}

/** The outcome, the steps, and both messages. */
export function SimulationView({ simulation, onRuleLinkClick, renderFinding }: SimulationViewProps) {
  const t = useT();
  const [all, setAll] = useState(false);
  const { outcome, steps, nodeName, revision } = simulation;
  const shown = all ? steps : steps.filter(({ decision }) => decision !== 'unused');
  const unused = steps.filter(({ decision }) => decision === 'unused').length;
  const whole = steps.reduce((sum, { microseconds }) => sum + microseconds, 0);
  const tone = outcome.kind === 'closed' || (outcome.status ?? 0) >= 400 ? 'bad' : 'ok';
  return (
    <div className={classes['simulation']}>
      <output className={classes['outcome']}>
        <StatusMark tone={tone} />
        <strong>{t(`simulate.outcome.${outcome.kind}`, { status: outcome.status ?? 0 })}</strong>
        <span className={classes['by']}>{t('simulate.by', { node: nodeName, revision, time: micro(whole) })}</span>
      </output>
      {/* A line that nginx does not read is refused before there are any. */}
      {steps.length > 0 && (
        <section>
          <h2 className={classes['head']}>{t('simulate.steps')}</h2>
          <ol className={classes['steps']}>
            {shown.map((step) => (
              <StepLine key={`${step.step} ${steps.indexOf(step)}`} step={step} onRuleLinkClick={onRuleLinkClick}>
                {step.waf && renderFinding?.(step)}
              </StepLine>
            ))}
          </ol>
          {unused > 0 && (
            <Button variant="subtle" size="compact-sm" onClick={() => setAll(!all)} aria-expanded={all}>
              {all ? t('simulate.hide') : t('simulate.unused', { count: unused })}
            </Button>
          )}
        </section>
      )}
      <div className={classes['messages']}>
        {outcome.status !== null && (
          <section>
            <h2 className={classes['head']}>{t('simulate.visitor')}</h2>
            <CodeBox text={`${outcome.status}\n${linesOf(outcome.headers)}`} />
          </section>
        )}
        {outcome.origin && (
          <section>
            <h2 className={classes['head']}>{t('simulate.asked')}</h2>
            <CodeBox text={`${outcome.origin.method} ${outcome.origin.url}\n${linesOf(outcome.origin.headers)}`} />
          </section>
        )}
      </div>
    </div>
  );
}

const opensInThisTab = ({ ctrlKey, metaKey, shiftKey, altKey }: MouseEvent) =>
  !(ctrlKey || metaKey || shiftKey || altKey);

interface StepLineProps {
  step: Step;
  onRuleLinkClick: (() => void) | undefined;
  /** Below the line. */
  children: ReactNode;
}

function StepLine({ step, onRuleLinkClick, children }: StepLineProps) {
  const t = useT();
  const { pathname } = useLocation();
  // A drawer is outside of the site's scope.
  const sitePage = /^.*\/sitesSetting\/[^/]+\/[^/]+/.exec(pathname)?.[0] ?? pathname;
  const view = viewOf(step);
  const named =
    step.rule && (step.rule.name === null ? t('simulate.drafted') : objectName(step.rule.kind, step.rule.name));
  const rule = named === step.detail['address'] ? null : named;
  return (
    <li className={classes['step']} data-quiet={toneOf(step) === 'off' || undefined}>
      <StatusMark tone={toneOf(step)} />
      <span className={classes['name']}>{nameOf(step)}</span>
      <span className={classes['stepOutcome']}>
        {outcomeOf(step)}
        {Number(step.detail['resting'] ?? 0) > 0 && (
          <span>{t('simulate.resting', { count: Number(step.detail['resting']) })}</span>
        )}
        {rule !== null &&
          (view === undefined ? (
            <code className={classes['rule']}>{rule}</code>
          ) : (
            <Link
              to={{ pathname: sitePage, search: `?view=${view}` }}
              onClick={(event) => opensInThisTab(event) && onRuleLinkClick?.()}
              className={classes['rule']}
            >
              {rule}
            </Link>
          ))}
      </span>
      <span className={classes['time']}>{micro(step.microseconds)}</span>
      {children && <div className={classes['finding']}>{children}</div>}
    </li>
  );
}
