import { percent } from '../../lib/format.ts';
import classes from './nodes.module.css';

const toneAt = (share: number) => (share >= 0.9 ? 'bad' : share >= 0.65 ? 'warn' : 'calm');

/** A percentage as a bar and a number. */
export function Meter({ share }: { share: number }) {
  return (
    <span className={classes['meter']} data-tone={toneAt(share)}>
      <span className={classes['bar']} aria-hidden>
        <span style={{ inlineSize: `${Math.round(Math.min(share, 1) * 100)}%` }} />
      </span>
      {percent(share).replace(/\.\d+/, '')}
    </span>
  );
}
