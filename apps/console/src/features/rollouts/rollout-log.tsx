import { RolloutGateName } from '@edgeloom/contract/rollouts/rollouts.ts';
import type { ComponentType } from 'react';
import { Time } from '../../components/values/values.tsx';
import { useLanguage, useT, type T } from '../../lib/i18n.ts';
import { isFigures, said } from './in-words.ts';
import type { RolloutLine } from './live-rollout.ts';
import classes from './rollouts.module.css';

type Line = Pick<RolloutLine, 'event' | 'wave' | 'detail'>;

/** What happened, as it is read: faults and gates by their names. */
function lineInWords({ event, wave, detail }: Line, t: T): string {
  const gate = RolloutGateName.options.find((name) => name === detail);
  const named = gate ? t(`rollouts.fault.${gate}`) : detail === 'person' ? t('rollouts.fault.person') : (detail ?? '');
  // Told by the turn that goes on to the next one: which has passed stands beside it.
  const which = event === 'wavePassed' && detail !== null ? Number(detail) : (wave ?? 0);
  return t(`rollouts.line.${event}`, { wave: which + 1, detail: named });
}

/** Of these the message says what the page says anyway. */
const plain: readonly Line['event'][] = ['begun', 'asked', 'askedBack', 'completed'];
const saysMore = ({ event, detail, message }: Line & Pick<RolloutLine, 'message'>) =>
  message !== null && !plain.includes(event) && !isFigures(detail);

const bad: readonly Line['event'][] = ['failed', 'rolledBack', 'gateFailed', 'goesBack', 'refused', 'stuck'];

interface LogProps<L> {
  /** In the order in which they are shown. */
  lines: readonly L[];
  /** Instead of the node, where all are of one: what it is about. */
  Of?: ComponentType<{ line: L }>;
}

/** What happened, with what was said of it. */
export function RolloutLog<L extends RolloutLine>({ lines, Of }: LogProps<L>) {
  const t = useT();
  const language = useLanguage();
  return (
    // oxlint-disable jsx-a11y/no-noninteractive-tabindex -- a region that scrolls must be reached by keyboard
    <div className={classes['scroll']} role="log" aria-label={t('rollouts.log')} tabIndex={0}>
      <ol className={classes['log']}>
        {lines.map((line) => (
          <li key={line.id} data-bad={bad.includes(line.event) || undefined}>
            <Time at={line.at} />
            <div>
              {Of ? (
                <>
                  <Of line={line} /> ·{' '}
                </>
              ) : (
                line.nodeName !== null && <b>{line.nodeName} </b>
              )}
              {lineInWords(line, t)}
              {line.by !== null && ` · ${t('rollouts.by', { name: line.by })}`}
              {saysMore(line) && <div className={classes['message']}>{said(line, t, language)}</div>}
            </div>
          </li>
        ))}
      </ol>
    </div>
    // oxlint-enable jsx-a11y/no-noninteractive-tabindex
  );
}
