import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { simulate } from '@edgeloom/contract/simulate/simulate.endpoints.ts';
import type { Simulation } from '@edgeloom/contract/simulate/simulate.ts';
import { useDebouncedValue } from '@mantine/hooks';
import { useState, type ReactNode } from 'react';
import { SimulationView } from '../../components/simulation/simulation-view.tsx';
import { FailedState } from '../../components/states/states.tsx';
import { fieldErrorsOf, ruleText } from '../../lib/errors.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import { bodyOf, emptyRequest, hostOf } from './request-draft.ts';
import { RequestForm } from './request-form.tsx';

/** Number of offered domains. More are found by typing. */
const PAGE_SIZE = 50;
const TYPING_RESTS_MS = 150;

interface SimulatorProps {
  site: { id: string; name: string };
  /** The first URL. */
  url?: string;
  /** Shown before the first simulation. */
  empty?: ReactNode;
  onFollow?: () => void;
}

/** The form of a request, and what happens to it. `onFollow`: a link to a rule was followed. */
export function Simulator({ site, url = '', empty = null, onFollow }: SimulatorProps) {
  const params = { siteId: site.id };
  const [draft, setDraft] = useState({ ...emptyRequest, url });
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
    <>
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
      {simulation !== null && <SimulationView simulation={simulation} onFollow={onFollow} />}
      {simulation === null && error === null && empty}
    </>
  );
}
