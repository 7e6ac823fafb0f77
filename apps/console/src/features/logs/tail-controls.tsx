import { Button, Switch } from '@mantine/core';
import { IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { count } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import type { LogPageState } from './use-log-page.ts';
import type { Tail } from './use-tail.ts';
import classes from './logs.module.css';

export function LiveSwitch({ page }: { page: LogPageState }) {
  const t = useT();
  return (
    <Switch
      label={t('logs.live.title')}
      checked={page.state.isLive}
      onChange={(event) => page.setLive(event.currentTarget.checked)}
    />
  );
}

export function PauseButton({ tail }: { tail: Tail }) {
  const t = useT();
  const IconOf = tail.isPaused ? IconPlayerPlay : IconPlayerPause;
  return (
    <Button
      variant="default"
      leftSection={<IconOf size={15} stroke={1.6} />}
      onClick={tail.isPaused ? tail.resume : tail.pause}
    >
      {tail.isPaused ? t('logs.live.resume') : t('logs.live.pause')}
    </Button>
  );
}

/** `Live · 12 left out`. The newest rows only are shown of more than a reader can take. */
export function TailState({ tail }: { tail: Tail }) {
  const t = useT();
  const { isPaused, isConnected, heldCount, dropped } = tail;
  let text = t('logs.live.on');
  if (isPaused) text = t('logs.live.paused', { count: heldCount, number: count(heldCount) });
  else if (!isConnected) text = t('logs.live.connecting');
  return (
    <output className={classes['live']}>
      <StatusMark tone={isPaused ? 'held' : isConnected ? 'ok' : 'unknown'} />
      {text}
      {dropped > 0 && <span>{t('logs.live.dropped', { count: dropped, number: count(dropped) })}</span>}
    </output>
  );
}
