import { RolloutGateName } from '@edgeloom/contract/rollouts/rollouts.ts';
import type { ComponentType } from 'react';
import { Time } from '../../components/values/values.tsx';
import { useLanguage, useT, type T } from '../../lib/i18n.ts';
import { hasFigures, messageText } from './format.ts';
import type { RolloutLine } from './live-rollout.ts';
import classes from './rollouts.module.css';

type Line = Pick<RolloutLine, 'event' | 'wave' | 'detail'>;

/** The text of an event, with the names of gates. */
function eventText({ event, wave, detail }: Line, t: T): string {
  if (event === 'complete' && detail === 'rollback') return t('status.rolloutNode.rolledBack');
  const gate = RolloutGateName.options.find((name) => name === detail);
  const named = gate ? t(`rollouts.fault.${gate}`) : detail === 'person' ? t('rollouts.fault.person') : (detail ?? '');
  // The line is logged in the next wave. `detail` has the wave that passed.
  const which = event === 'wavePassed' && detail !== null ? Number(detail) : (wave ?? 0);
  return t(`rollouts.line.${event}`, { wave: which + 1, detail: named });
}

/** Events whose message repeats the page. */
const withoutMessage: readonly Line['event'][] = ['started', 'asked', 'rollbackRequested', 'completed'];
const hasMessage = ({ event, detail, message }: Line & Pick<RolloutLine, 'message'>) =>
  message !== null && !withoutMessage.includes(event) && (event === 'gateFailed' || !hasFigures(detail));

const bad: readonly Line['event'][] = ['failed', 'rolledBack', 'gateFailed', 'rollbackStarted', 'refused', 'stuck'];

interface LogProps<L> {
  /** In display order. */
  lines: readonly L[];
  /** Shown in place of the node. */
  Of?: ComponentType<{ line: L }>;
}

/** Events with their messages. */
export function RolloutLog<L extends RolloutLine>({ lines, Of }: LogProps<L>) {
  const t = useT();
  const language = useLanguage();
  return (
    // oxlint-disable jsx-a11y/no-noninteractive-tabindex -- scrollable regions need keyboard access
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
              {eventText(line, t)}
              {line.by !== null && ` · ${t('rollouts.by', { name: line.by })}`}
              {hasMessage(line) && <div className={classes['message']}>{messageText(line, t, language)}</div>}
            </div>
          </li>
        ))}
      </ol>
    </div>
    // oxlint-enable jsx-a11y/no-noninteractive-tabindex
  );
}
