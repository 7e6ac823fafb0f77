import { IconCheck } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { Tone } from '../../theme/theme.ts';
import { StatusMark } from '../status/status-mark.tsx';
import classes from './step-run.module.css';

/** A page about something that goes on: what it is and its steps at the left, what it says beside them. */
export const RunPage = ({ side, children }: { side: ReactNode; children: ReactNode }) => (
  <div className={classes['split']}>
    <div className={classes['side']}>{side}</div>
    {children}
  </div>
);

export interface RunStep {
  key: string;
  tone: Tone;
  /** The word of the state. */
  state: string;
  isWaiting: boolean;
  isCurrent: boolean;
  title: ReactNode;
  why?: ReactNode;
  took?: ReactNode;
  /** What stands below: a fault, gates. */
  more?: ReactNode;
}

/** Step by step: those that are done have a tick, and a line leads from each to the next. */
export const StepRun = ({ steps }: { steps: readonly RunStep[] }) => (
  <ol className={classes['steps']}>
    {steps.map(({ key, tone, state, isWaiting, isCurrent, title, why, took, more }) => (
      <li
        key={key}
        className={classes['step']}
        data-waiting={isWaiting || undefined}
        aria-current={isCurrent ? 'step' : undefined}
      >
        <span className={classes['mark']}>
          {tone === 'ok' ? (
            <>
              <IconCheck size={15} stroke={2} className={classes['tick'] ?? ''} aria-hidden />
              <span className="hidden-text">{state}</span>
            </>
          ) : (
            <StatusMark tone={tone} label={state} />
          )}
        </span>
        <div className={classes['body']}>
          <div className={classes['title']}>{title}</div>
          {why !== undefined && <div className={classes['why']}>{why}</div>}
          {more}
        </div>
        <span className={classes['took']}>{took}</span>
      </li>
    ))}
  </ol>
);
