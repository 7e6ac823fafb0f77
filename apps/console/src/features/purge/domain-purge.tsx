import { purge } from '@edgeloom/contract/purge/purge.endpoints.ts';
import { Button, Checkbox } from '@mantine/core';
import { IconEraser } from '@tabler/icons-react';
import { useState } from 'react';
import { useConfirm } from '../../components/confirm/confirm.tsx';
import { Section } from '../../components/page/section.tsx';
import { JobReceipts } from '../../components/receipts/job-receipts.tsx';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useAction } from '../../lib/use-endpoint.ts';
import { follow } from '../../stores/jobs.ts';
import { listed } from './purge-input.ts';
import classes from './purge.module.css';

/** Purges a whole domain. URLs and prefixes are on the site's page. */
export function DomainPurge({ domain: { name, siteID } }: { domain: { name: string; siteID: string } }) {
  const t = useT();
  const can = useCan();
  const confirm = useConfirm();
  const [soft, setSoft] = useState(false);
  const [jobID, setJobID] = useState<string | null>(null);
  const { run, running } = useAction(purge.urls, { refreshes: ['jobs'] });
  if (!can(purge.urls)) return null;

  const submit = async () => {
    const points = [t('purge.originPoint'), t('purge.offlinePoint')];
    const verb = t('purge.submit.hosts', { count: 1 });
    if (!soft && !(await confirm({ title: t('purge.domain.confirm', { name }), points, verb }))) return;
    const body = { type: listed.hosts.type, urls: [name], soft };
    const started = await run({ params: { siteId: siteID }, body });
    if (!started) return;
    follow(started.jobID, siteID);
    setJobID(started.jobID);
  };
  return (
    <Section title="purge.domain.title" why="purge.domain.why" wide>
      <div className={classes['what']}>
        <Checkbox
          label={t('purge.soft')}
          description={t('purge.softWhy')}
          checked={soft}
          onChange={({ currentTarget }) => setSoft(currentTarget.checked)}
        />
        <div>
          <Button loading={running} leftSection={<IconEraser size={15} stroke={1.6} />} onClick={() => void submit()}>
            {t('purge.domain.submit', { name })}
          </Button>
        </div>
        {jobID !== null && <JobReceipts siteId={siteID} jobID={jobID} />}
      </div>
    </Section>
  );
}
