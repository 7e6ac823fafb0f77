import { SiteRule } from '@edgeloom/contract/site-rules.ts';
import { versions } from '@edgeloom/contract/versions/versions.endpoints.ts';
import { Button, TextInput } from '@mantine/core';
import { useState } from 'react';
import { Differences } from '../../components/differences/differences.tsx';
import { useOverlayClose } from '../../components/overlay/overlay.tsx';
import { Await } from '../../components/states/await.tsx';
import { causeText, withCode } from '../../lib/errors.ts';
import { count } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import classes from './versions.module.css';

/** Previews the restore of a version with its obstacles, and performs it. */
export function VersionRollback({ siteId, version }: { siteId: string; version: number }) {
  const t = useT();
  const close = useOverlayClose();
  const [reason, setReason] = useState('');
  const params = { siteId, version };
  const tried = useEndpoint(versions.preview, { params });
  const { run, running } = useAction(versions.rollback, {
    refreshes: [
      'domains',
      'sites',
      'ports',
      ...SiteRule.options,
      'siteAntiHeaders',
      'cors',
      'customHeaders',
      'urlRedirects',
      'redirects',
    ],
    done: 'versions.done',
  });
  const send = async () => {
    if (await run({ params, body: { reason } })) close();
  };
  return (
    <div className={classes['page']}>
      <Await result={tried}>
        {({ data, total, settled, faults }) => (
          <>
            <p>{total === 0 ? t('versions.nothing') : t('versions.preview', { number: count(total) })}</p>
            {faults.length > 0 && (
              <div role="alert">
                <p className={classes['removed']}>{t('versions.blocked')}</p>
                <ul>
                  {faults.map(({ targets, ...cause }, i) => (
                    <li key={i}>
                      {withCode({ code: cause.code, text: causeText(null, cause) })}
                      {t('common.colon')}
                      {targets.join(t('common.comma'))}
                    </li>
                  ))}
                </ul>
              </div>
            )}
            {settled.length > 0 && (
              <div>
                <p>{t('versions.settled')}</p>
                <ul>
                  {settled.map(({ kind, name, rule }) => (
                    <li key={`${kind} ${name} ${rule}`}>{t(`versions.${rule}`, { name })}</li>
                  ))}
                </ul>
              </div>
            )}
            <Differences
              rows={data}
              total={total}
              before={t('versions.draft.now')}
              after={t('versions.atVersion', { version })}
            />
            <TextInput
              label={t('versions.reason')}
              maxLength={500}
              value={reason}
              onChange={(event) => setReason(event.currentTarget.value)}
            />
            <Button disabled={total === 0 || faults.length > 0} loading={running} onClick={() => void send()}>
              {t('versions.confirm')}
            </Button>
          </>
        )}
      </Await>
    </div>
  );
}
