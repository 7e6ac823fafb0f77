import { certificates } from '@edgeloom/contract/certificates/certificates.endpoints.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { useState } from 'react';
import { Pages } from '../../components/pages/pages.tsx';
import { Await } from '../../components/states/await.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { Time } from '../../components/values/values.tsx';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import type { Tone } from '../../theme/tokens.ts';
import classes from './certificates.module.css';

type Step = Received<typeof certificates.events>['data'][number];
const tones: Readonly<Record<string, Tone>> = {
  failed: 'bad',
  passed: 'warn',
  waits: 'held',
  signed: 'ok',
  uploaded: 'ok',
  validated: 'ok',
};
const PAGE_SIZE = 100;

interface TimelineProps {
  params: { siteId: string; certId: string };
  pollMs: number;
}

/** Events of a certificate, newest first. */
export function Timeline({ params, pollMs }: TimelineProps) {
  const t = useT();
  const [page, setPage] = useState(1);
  const query = { orderBy: 'desc', page, pageSize: PAGE_SIZE } as const;
  const found = useEndpoint(certificates.events, { params, query }, { pollMs });
  return (
    <Await result={found}>
      {({ data, total }) => (
        <>
          {total === 0 ? <p className={classes['detail']}>{t('certificates.noEvents')}</p> : <Steps of={data} />}
          <Pages page={page} pageSize={PAGE_SIZE} total={total} onChange={setPage} />
        </>
      )}
    </Await>
  );
}

/** An authority's messages are not translated. */
function Steps({ of }: { of: readonly Step[] }) {
  const t = useT();
  return (
    <ol className={classes['timeline']}>
      {of.map(({ id, at, step, ca, keyType, detail }) => (
        <li key={id}>
          <StatusMark tone={tones[step] ?? 'unknown'} />
          <div>
            <span className={classes['step']}>
              <b>{t(`certificates.steps.${step}`)}</b>
              {ca !== null && <span>{ca}</span>}
              {keyType !== null && <span>{keyType.toUpperCase()}</span>}
            </span>
            {detail !== null && <p className={classes['detail']}>{detail}</p>}
          </div>
          <Time at={at} />
        </li>
      ))}
    </ol>
  );
}
