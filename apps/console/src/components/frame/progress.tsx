import { useNavigation } from 'react-router-dom';
import { useT } from '../../lib/i18n.ts';
import classes from './progress.module.css';

/** Progress bar at the top of the window while the next page loads. */
export function Progress() {
  const { state } = useNavigation();
  return state === 'idle' ? null : <ProgressBar />;
}

export function ProgressBar() {
  return <progress className={classes['progress']} aria-label={useT()('common.loading')} />;
}
