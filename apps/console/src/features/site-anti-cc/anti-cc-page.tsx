import { antiCCs } from '@edgeloom/contract/site-anti-cc/site-anti-cc.endpoints.ts';
import { useSite } from '../../components/frame/site-scope.ts';
import { Page } from '../../components/page/page.tsx';
import { draftOf } from '../../components/rules/drafts.ts';
import { RulesBar } from '../../components/rules/rules-bar.tsx';
import { RulesBlock } from '../../components/rules/rules-block.tsx';
import { useDrafting } from '../../components/rules/use-drafting.ts';
import { Await } from '../../components/states/await.tsx';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { antiCCFaults, fieldsOf, newAntiCC, type AntiCCRule } from './anti-cc-drafts.ts';
import { AntiCCEditor } from './anti-cc-editor.tsx';
import { AntiCCSentence } from './anti-cc-sentence.tsx';
import { UnderAttack } from './under-attack.tsx';

/** Which visitors of a site must pass a challenge. */
export function AntiCCPage() {
  const { id } = useSite();
  const params = { siteId: id };
  return (
    <Await result={useEndpoint(antiCCs.list, { params })} page="siteAntiCC.title">
      {({ data }) => <Loaded key={id} params={params} rules={data} />}
    </Await>
  );
}

function Loaded({ params, rules }: { params: { siteId: string }; rules: AntiCCRule[] }) {
  const can = useCan();
  const drafting = useDrafting({
    key: `antiCCs ${params.siteId}`,
    live: draftOf(rules),
    locked: !can(antiCCs.update),
    fieldsOf,
    faultsOf: antiCCFaults,
    isRule: (kept) => 'passSeconds' in kept,
    calls: antiCCs,
    params,
    field: 'items',
  });
  return (
    <Page title="siteAntiCC.title">
      <UnderAttack params={params} rules={rules} />
      <RulesBlock
        drafting={drafting}
        title="antiCCs.title"
        why="antiCCs.why"
        order="siteAntiCC.order"
        add="antiCCs.add"
        newRule={newAntiCC}
        sentence={AntiCCSentence}
        editor={AntiCCEditor}
      />
      <RulesBar lists={[{ title: 'antiCCs.title', ...drafting }]} />
    </Page>
  );
}
