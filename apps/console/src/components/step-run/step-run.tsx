import { IconCheck } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { Tone } from '../../theme/tokens.ts';
import { StatusMark } from '../status/status-mark.tsx';
import classes from './step-run.module.css';

/** Page of a process: steps on the left, output on the right. */
export const RunPage = ({ side, children }: { side: ReactNode; children: ReactNode }) => (
  <div className={classes['split']}>
    <div className={classes['side']}>{side}</div>
    {children}
  </div>
);

export interface RunStep {
  key: string;
  tone: Tone;
  /** Label of the state. */
  state: string;
  isWaiting: boolean;
  isCurrent: boolean;
  title: ReactNode;
  why?: ReactNode;
  took?: ReactNode;
  /** Content below the step, such as an error or gates. */
  more?: ReactNode;
}

/** A vertical list of steps with check marks. */
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
