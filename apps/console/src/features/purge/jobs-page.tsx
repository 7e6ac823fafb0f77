import { jobs } from '@edgeloom/contract/jobs/jobs.endpoints.ts';
import { JobKind, JobState } from '@edgeloom/contract/jobs/jobs.ts';
import { IconListCheck, IconReceipt2 } from '@tabler/icons-react';
import { useSite } from '../../components/frame/site-scope.ts';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Page } from '../../components/page/page.tsx';
import { act } from '../../components/resource-table/actions.tsx';
import type { Column, RowOf } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Status } from '../../components/status/status.tsx';
import { t } from '../../lib/i18n.ts';
import { JobReceipts } from '../../components/receipts/job-receipts.tsx';

type Job = RowOf<typeof jobs.list>;

const columns: Column<Job>[] = [
  { key: 'title', flexible: true },
  { key: 'kind', render: ({ kind }) => t(`jobs.kinds.${kind}`), priority: 2 },
  {
    key: 'state',
    render: ({ state }) => <Status kind="task" value={state} />,
    text: ({ state }) => t(`status.task.${state}`),
  },
  { key: 'progress', align: 'right', render: ({ done, total }) => `${done} / ${total}` },
  { key: 'createdBy', priority: 2 },
  { key: 'createdAt', as: 'time' },
  { key: 'endedAt', as: 'time', priority: 2 },
];

/** Jobs of the site's nodes and their progress. */
export function JobsPage() {
  const overlay = useOverlay();
  const { id } = useSite();
  return (
    <Page title="jobs.title">
      <ResourceTable
        endpoint={jobs.list}
        params={{ siteId: id }}
        columns={columns}
        sort="-createdAt"
        filters={[
          { key: 'kind', choices: JobKind.options, labels: 'jobs.kinds', many: true },
          { key: 'state', choices: JobState.options, status: 'task', many: true },
          { key: 'recent', yesNo: true },
        ]}
        pollMs={5000}
        row={(job) => [
          act<Job>({
            label: 'jobs.show',
            icon: IconReceipt2,
            run: () => overlay(<JobReceipts siteId={id} jobID={job.id} />, { title: 'purge.receipts', wide: true }),
          }),
        ]}
        phone={(job) => ({ below: <Status kind="task" value={job.state} />, end: `${job.done} / ${job.total}` })}
        empty={{ icon: IconListCheck }}
      />
    </Page>
  );
}
