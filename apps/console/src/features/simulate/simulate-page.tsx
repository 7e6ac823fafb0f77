import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { simulate } from '@edgeloom/contract/simulate/simulate.endpoints.ts';
import type { Simulation } from '@edgeloom/contract/simulate/simulate.ts';
import { useDebouncedValue } from '@mantine/hooks';
import { IconRoute } from '@tabler/icons-react';
import { useState } from 'react';
import { useSite } from '../../components/frame/site-scope.ts';
import { Page } from '../../components/page/page.tsx';
import { SimulationView } from '../../components/simulation/simulation-view.tsx';
import { EmptyState, FailedState } from '../../components/states/states.tsx';
import { fieldErrorsOf, ruleText } from '../../lib/errors.ts';
import { useT } from '../../lib/i18n.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import { bodyOf, emptyRequest, hostOf } from './request-draft.ts';
import { RequestForm } from './request-form.tsx';
import classes from './simulate.module.css';

/** Number of offered domains. More are found by typing. */
const PAGE_SIZE = 50;
const TYPING_RESTS_MS = 150;

/** The request simulator. */
export function SimulatePage() {
  const t = useT();
  const params = { siteId: useSite().id };
  const [draft, setDraft] = useState(emptyRequest);
  const [simulation, setSimulation] = useState<Simulation | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [keywords] = useDebouncedValue(hostOf(draft.url).slice(0, 256), TYPING_RESTS_MS);
  const names = useEndpoint(domains.list, {
    params,
    query: { sortBy: 'name', pageSize: PAGE_SIZE, enabled: true, ...(keywords !== '' && { keywords }) },
  }).data;
  const { run, running } = useAction(simulate.run, { quiet: true });
  const faults = new Map(fieldErrorsOf(error).map(({ path, rule, message }) => [path, ruleText(rule, message)]));

  async function ask() {
    setError(null);
    try {
      setSimulation(await run({ params, body: bodyOf(draft) }));
    } catch (failure) {
      setSimulation(null);
      setError(failure);
    }
  }

  return (
    <Page title="simulate.title">
      <div className={classes['page']}>
        <p className={classes['why']}>{t('simulate.why')}</p>
        <RequestForm
          draft={draft}
          onChange={(change) => {
            setDraft({ ...draft, ...change });
            setError(null);
          }}
          names={names?.data.map(({ name }) => name) ?? []}
          more={names ? names.total - names.data.length : 0}
          nodes={simulation?.nodes ?? []}
          faults={faults}
          busy={running}
          onSubmit={() => void ask()}
        />
        {error !== null && faults.size === 0 && <FailedState error={error} retry={() => void ask()} />}
        {simulation !== null && <SimulationView simulation={simulation} />}
        {simulation === null && error === null && (
          <EmptyState icon={IconRoute} title={t('simulate.question')} text={t('simulate.empty')} />
        )}
      </div>
    </Page>
  );
}
