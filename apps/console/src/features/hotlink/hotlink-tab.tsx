import type { Received } from '@edgeloom/contract/endpoint.ts';
import { antiHeaders, antiReferers } from '@edgeloom/contract/hotlink/hotlink.endpoints.ts';
import { RulesBar } from '../../components/rules/rules-bar.tsx';
import { RulesBlock } from '../../components/rules/rules-block.tsx';
import { Await } from '../../components/states/await.tsx';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { newHeader } from './header-draft.ts';
import { HeaderEditor } from './header-editor.tsx';
import { HeaderSentence } from './header-sentence.tsx';
import { newReferer } from './referer-draft.ts';
import { RefererEditor } from './referer-editor.tsx';
import { RefererSentence } from './referer-sentence.tsx';
import { useAntiHeaders, useAntiReferers } from './use-hotlink.ts';

/** Referer and header rules of a domain. */
export function HotlinkTab({ domain }: { domain: { id: string; siteID: string } }) {
  const params = { siteId: domain.siteID, domainId: domain.id };
  const referers = useEndpoint(antiReferers.list, { params });
  const headers = useEndpoint(antiHeaders.list, { params });
  return (
    <Await result={referers}>
      {(ofReferers) => (
        <Await result={headers}>
          {(ofHeaders) => <Loaded params={params} referers={ofReferers} headers={ofHeaders} />}
        </Await>
      )}
    </Await>
  );
}

interface LoadedProps {
  params: { siteId: string; domainId: string };
  referers: Received<typeof antiReferers.list>;
  headers: Received<typeof antiHeaders.list>;
}

function Loaded({ params, referers, headers }: LoadedProps) {
  const ofReferers = useAntiReferers(params, referers);
  const ofHeaders = useAntiHeaders(params, headers);
  return (
    <>
      <RulesBlock
        drafting={ofReferers}
        title="hotlink.referers.title"
        why="hotlink.referers.why"
        order="hotlink.referers.order"
        add="hotlink.referers.add"
        newRule={newReferer}
        sentence={RefererSentence}
        editor={RefererEditor}
      />
      <RulesBlock
        drafting={ofHeaders}
        title="hotlink.headers.title"
        why="hotlink.headers.why"
        order="hotlink.headers.order"
        add="hotlink.headers.add"
        newRule={newHeader}
        sentence={HeaderSentence}
        editor={HeaderEditor}
      />
      <RulesBar
        lists={[
          { title: 'hotlink.referers.title', ...ofReferers },
          { title: 'hotlink.headers.title', ...ofHeaders },
        ]}
      />
    </>
  );
}
