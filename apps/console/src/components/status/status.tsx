import { Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';
import { tMaybe, useT } from '../../lib/i18n.ts';
import { statusTone, type Tone } from '../../theme/tokens.ts';
import { StatusMark } from './status-mark.tsx';
import classes from './status.module.css';

type Kinds = typeof statusTone;
export type StatusKind = keyof Kinds;

const tones: Record<string, Record<string, Tone>> = statusTone;
export const toneOf = (kind: StatusKind, value: string): Tone => tones[kind]?.[value] ?? 'unknown';

interface StatusProps {
  kind: StatusKind;
  value: string;
  /** Overrides the state's label. */
  text?: string;
  /** Reason for a bad state, in grey and possibly truncated; complete on hover and focus. */
  why?: string | null;
}

/** A state with mark, label and optional reason. */
export function Status({ kind, value, text, why }: StatusProps) {
  useT();
  const tone = toneOf(kind, value);
  return (
    <span className={classes['status']}>
      <StatusMark tone={tone} />
      <span className={classes['word']} data-tone={tone}>
        {text ?? tMaybe(`status.${kind}.${value}`) ?? value}
      </span>
      {why && (
        <Tooltip label={why} multiline maw={420} events={{ hover: true, focus: true, touch: true }}>
          <button type="button" className={classes['why']}>
            {why}
          </button>
        </Tooltip>
      )}
    </span>
  );
}

/** A fact in a page head or a number in a summary: `CNAME active`, `2 done`. */
export function Pill({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <span className={classes['pill']} data-tone={tone}>
      {children}
    </span>
  );
}
