import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { simulate } from '@edgeloom/contract/simulate/simulate.endpoints.ts';
import type { Simulation } from '@edgeloom/contract/simulate/simulate.ts';
import { useDebouncedValue } from '@mantine/hooks';
import { useState, type ReactNode } from 'react';
import { SimulationView } from '../../components/simulation/simulation-view.tsx';
import { FailedState } from '../../components/states/states.tsx';
import { fieldErrorsOf, ruleText } from '../../lib/errors.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import { emptyRequest, hostOf, inputOf } from './request-draft.ts';
import { RequestForm } from './request-form.tsx';
import { WafFinding } from './waf-finding.tsx';

/** Number of offered domains. More are found by typing. */
const PAGE_SIZE = 50;
const TYPING_RESTS_MS = 150;

export interface SimulatorProps {
  site: { id: string; name: string };
  initialUrl?: string;
  /** Shown before the first simulation. */
  empty?: ReactNode;
  onRuleLinkClick?: () => void;
}

/** A form for a request, and the simulation of that request. */
export function Simulator({ site, initialUrl = '', empty = null, onRuleLinkClick }: SimulatorProps) {
  const params = { siteId: site.id };
  const [draft, setDraft] = useState({ ...emptyRequest, url: initialUrl });
  const [simulation, setSimulation] = useState<Simulation | null>(null);
  const [host, setHost] = useState('');
  const [error, setError] = useState<unknown>(null);
  const [keywords] = useDebouncedValue(hostOf(draft.url).slice(0, 256), TYPING_RESTS_MS);
  const names = useEndpoint(domains.list, {
    params,
    query: { sortBy: 'name', pageSize: PAGE_SIZE, enabled: true, ...(keywords !== '' && { keywords }) },
  }).data;
  const { run, running } = useAction(simulate.run, { quiet: true });
  const fieldErrors = new Map(fieldErrorsOf(error).map(({ path, rule, message }) => [path, ruleText(rule, message)]));

  async function runSimulation() {
    setError(null);
    try {
      setSimulation(await run({ params, body: inputOf(draft) }));
      setHost(URL.parse(draft.url.trim())?.hostname ?? '');
    } catch (runError) {
      setSimulation(null);
      setError(runError);
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
        fieldErrors={fieldErrors}
        busy={running}
        onSubmit={() => void runSimulation()}
      />
      {error !== null && fieldErrors.size === 0 && <FailedState error={error} retry={() => void runSimulation()} />}
      {simulation !== null && (
        <SimulationView
          simulation={simulation}
          onRuleLinkClick={onRuleLinkClick}
          renderFinding={(step) => <WafFinding siteId={site.id} host={host} step={step} />}
        />
      )}
      {simulation === null && error === null && empty}
    </>
  );
}
