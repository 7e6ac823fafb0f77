import { Button, Loader } from '@mantine/core';
import { useClipboard, useTimeout } from '@mantine/hooks';
import { IconLock, IconPlugConnectedX, IconRefresh, type Icon } from '@tabler/icons-react';
import { useEffect, useState, type ReactNode } from 'react';
import { explain, isTemporary, withCode } from '../../lib/errors.ts';
import { useT } from '../../lib/i18n.ts';
import { Phrase } from '../phrase/phrase.tsx';
import { CopyIcon } from '../values/copy.tsx';
import classes from './states.module.css';

interface StateProps {
  icon: Icon;
  title: string;
  text?: ReactNode;
  /** One main action, at most one other. */
  action?: ReactNode;
  tone?: 'bad';
}

/** The common shape: icon, title, a sentence, one action. */
export function EmptyState({ icon: Mark, title, text, action, tone }: StateProps) {
  return (
    <div className={classes['state']} data-tone={tone} {...(tone === 'bad' && { role: 'alert' })}>
      <Mark size={24} stroke={1.5} className={classes['icon']} aria-hidden />
      <h2 className={classes['title']}>{title}</h2>
      {text && <div className={classes['text']}>{text}</div>}
      {action && <div className={classes['action']}>{action}</div>}
    </div>
  );
}

interface FailedProps {
  error: unknown;
  retry?: () => void;
  /** Name of the object that failed to load. */
  of?: string | null | undefined;
  /** Permission that the call needs. */
  needs?: string | undefined;
}

/** Error state: what failed, what still works, the request id, and a retry button. Names a missing permission. */
export function FailedState({ error, retry, of, needs }: FailedProps) {
  const t = useT();
  const { text, code, reqID } = explain(error);
  if (code === 101_018) return <ForbiddenState permission={needs ?? null} />;
  const cause = withCode({ text, code });
  return (
    <EmptyState
      icon={IconPlugConnectedX}
      tone="bad"
      title={of == null ? t('common.states.failed') : t('common.states.failedOf', { text: of })}
      text={
        <>
          {cause}
          {/[.。]$/.test(cause) ? '' : t('common.stop')} {t('common.states.unaffected')}
          {retry && isTemporary(error) && ` ${t('common.states.retries')}`}
          {reqID && (
            <div className={classes['request']}>
              reqID {reqID} <CopyIcon text={reqID} />
            </div>
          )}
        </>
      }
      action={
        retry && (
          <Button variant="default" leftSection={<IconRefresh size={15} stroke={1.6} />} onClick={retry}>
            {t('common.retry')}
          </Button>
        )
      }
    />
  );
}

export function ForbiddenState({ permission }: { permission: string | null }) {
  const t = useT();
  const { copy, copied } = useClipboard({ timeout: 1500 });
  const request = t('common.states.request', { permission: permission ?? '', page: document.title });
  // A call without a permission is reserved for the account's owner, so the text names the owner.
  if (permission === 'signedIn')
    return <EmptyState icon={IconLock} title={t('proxy.ownersOnly')} text={t('proxy.notOwn')} />;
  return (
    <EmptyState
      icon={IconLock}
      title={t('common.states.forbidden')}
      text={
        permission && (
          <Phrase word="common.states.needs" values={{ permission }} as="code" className={classes['code']} />
        )
      }
      action={
        permission && (
          <Button variant="default" onClick={() => copy(request)}>
            {copied ? t('common.copied') : t('common.states.copyRequest')}
          </Button>
        )
      }
    />
  );
}

/** Nothing for 300 ms, so that a fast page does not flash. */
export function Late({ children }: { children: ReactNode }) {
  const [due, setDue] = useState(false);
  const { start, clear } = useTimeout(() => setDue(true), 300);
  useEffect(() => {
    start();
    return clear;
  }, [start, clear]);
  return due ? <>{children}</> : null;
}

/** A page or panel that loads. */
export function PageLoading() {
  const t = useT();
  return (
    <Late>
      <output className={classes['loading']} aria-label={t('common.loading')}>
        <Loader size="sm" />
      </output>
    </Late>
  );
}
