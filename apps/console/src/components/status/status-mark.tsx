import type { Tone } from '../../theme/tokens.ts';
import classes from './status.module.css';

/** Colour and shape: a disc, a turning arc, a triangle, a square, two bars, a ring, a dashed ring. */
export function StatusMark({ tone, label }: { tone: Tone; label?: string }) {
  return (
    <svg
      viewBox="0 0 12 12"
      className={classes['mark']}
      data-tone={tone}
      {...(label ? { role: 'img', 'aria-label': label } : { 'aria-hidden': true })}
    >
      {marks[tone]}
    </svg>
  );
}

const marks = {
  ok: <circle cx="6" cy="6" r="4.5" fill="currentColor" />,
  busy: (
    <g fill="none" stroke="currentColor" strokeWidth="1.8">
      <circle cx="6" cy="6" r="4.1" opacity=".3" />
      <path className={classes['turning']} d="M6 1.9A4.1 4.1 0 0 1 10.1 6" strokeLinecap="round" />
    </g>
  ),
  warn: <path d="M6 1.2 11.3 10.8H.7Z" fill="currentColor" />,
  bad: <rect x="1.8" y="1.8" width="8.4" height="8.4" rx=".6" fill="currentColor" />,
  held: <path d="M2.4 1.8h2.4v8.4H2.4zM7.2 1.8h2.4v8.4H7.2z" fill="currentColor" />,
  off: <circle cx="6" cy="6" r="3.9" fill="none" stroke="currentColor" strokeWidth="1.6" />,
  unknown: (
    <circle cx="6" cy="6" r="4" fill="none" stroke="currentColor" strokeWidth="1.6" strokeDasharray="1.9 1.25" />
  ),
} satisfies Record<Tone, React.ReactNode>;
