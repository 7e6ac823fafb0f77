import { JobStarted } from '@edgeloom/contract/jobs/jobs.ts';
import { preheat } from '@edgeloom/contract/preheat/preheat.endpoints.ts';
import { useState } from 'react';
import { LinesField } from '../../components/fields/lines-field.tsx';
import { useSite } from '../../components/frame/site-scope.ts';
import { Section } from '../../components/page/section.tsx';
import { JobReceipts } from '../../components/receipts/job-receipts.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { ForbiddenState } from '../../components/states/states.tsx';
import { useCan } from '../../lib/use-can.ts';
import { follow } from '../../stores/jobs.ts';

/** Prefetch form and the progress on each node. */
export function PreheatTab() {
  const can = useCan();
  const site = useSite();
  const [jobID, setJobID] = useState<string | null>(null);
  if (!can(preheat.start)) return <ForbiddenState permission={preheat.start.can} />;
  return (
    <Section title="preheat.title" why="preheat.why" wide>
      <ResourceForm
        create={preheat.start}
        params={{ siteId: site.id }}
        submitLabel="preheat.start"
        done="preheat.started"
        onDone={(reply) => {
          const started = JobStarted.parse(reply).jobID;
          follow(started, site.id);
          setJobID(started);
        }}
      >
        <LinesField name="urls" rows={5} placeholder="https://www.example.com/video/intro.mp4" />
      </ResourceForm>
      {jobID !== null && <JobReceipts siteId={site.id} jobID={jobID} />}
    </Section>
  );
}
