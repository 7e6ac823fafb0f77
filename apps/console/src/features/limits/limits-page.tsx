import type { Received } from '@edgeloom/contract/endpoint.ts';
import { frequencies, limitConns, limitReqs } from '@edgeloom/contract/limits/limits.endpoints.ts';
import { useSite } from '../../components/frame/site-scope.ts';
import { Page } from '../../components/page/page.tsx';
import { draftOf } from '../../components/rules/drafts.ts';
import { RulesBar } from '../../components/rules/rules-bar.tsx';
import { RulesBlock } from '../../components/rules/rules-block.tsx';
import { useDrafting } from '../../components/rules/use-drafting.ts';
import { Await } from '../../components/states/await.tsx';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import {
  fieldsOf,
  frequencyFaults,
  limitConnFaults,
  limitReqFaults,
  newFrequency,
  newLimitConn,
  newLimitReq,
} from './limit-drafts.ts';
import { FrequencyEditor, LimitConnEditor, LimitReqEditor } from './limit-editor.tsx';
import { FrequencySentence, LimitConnSentence, LimitReqSentence } from './limit-sentence.tsx';

/** How often visitors may request a site. */
export function LimitsPage() {
  const { id } = useSite();
  const params = { siteId: id };
  const ofWindows = useEndpoint(frequencies.list, { params });
  const ofRates = useEndpoint(limitReqs.list, { params });
  const ofConcurrency = useEndpoint(limitConns.list, { params });
  return (
    <Await result={ofWindows} page="limits.title">
      {({ data: windows }) => (
        <Await result={ofRates} page="limits.title">
          {({ data: rates }) => (
            <Await result={ofConcurrency} page="limits.title">
              {({ data: concurrency }) => (
                <Loaded key={id} params={params} windows={windows} rates={rates} concurrency={concurrency} />
              )}
            </Await>
          )}
        </Await>
      )}
    </Await>
  );
}

interface LoadedProps {
  params: { siteId: string };
  windows: Received<typeof frequencies.list>['data'];
  rates: Received<typeof limitReqs.list>['data'];
  concurrency: Received<typeof limitConns.list>['data'];
}

function Loaded({ params, windows, rates, concurrency }: LoadedProps) {
  const can = useCan();
  const ofWindows = useDrafting({
    key: `frequencies ${params.siteId}`,
    live: draftOf(windows),
    locked: !can(frequencies.update),
    fieldsOf,
    faultsOf: frequencyFaults,
    isRule: (kept) => 'times' in kept,
    calls: frequencies,
    params,
    field: 'items',
  });
  const ofRates = useDrafting({
    key: `limitReqs ${params.siteId}`,
    live: draftOf(rates),
    locked: !can(limitReqs.update),
    fieldsOf,
    faultsOf: limitReqFaults,
    isRule: (kept) => 'burst' in kept,
    calls: limitReqs,
    params,
    field: 'items',
  });
  const ofConcurrency = useDrafting({
    key: `limitConns ${params.siteId}`,
    live: draftOf(concurrency),
    locked: !can(limitConns.update),
    fieldsOf,
    faultsOf: limitConnFaults,
    isRule: (kept) => 'max' in kept,
    calls: limitConns,
    params,
    field: 'items',
  });
  return (
    <Page title="limits.title">
      <RulesBlock
        drafting={ofWindows}
        title="frequencies.title"
        why="frequencies.why"
        order="limits.order"
        add="frequencies.add"
        newRule={newFrequency}
        sentence={FrequencySentence}
        editor={FrequencyEditor}
      />
      <RulesBlock
        drafting={ofRates}
        title="limitReqs.title"
        why="limitReqs.why"
        order="limits.order"
        add="limitReqs.add"
        newRule={newLimitReq}
        sentence={LimitReqSentence}
        editor={LimitReqEditor}
      />
      <RulesBlock
        drafting={ofConcurrency}
        title="limitConns.title"
        why="limitConns.why"
        order="limits.order"
        add="limitConns.add"
        newRule={newLimitConn}
        sentence={LimitConnSentence}
        editor={LimitConnEditor}
      />
      <RulesBar
        lists={[
          { title: 'frequencies.title', ...ofWindows },
          { title: 'limitReqs.title', ...ofRates },
          { title: 'limitConns.title', ...ofConcurrency },
        ]}
      />
    </Page>
  );
}
