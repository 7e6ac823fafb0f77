import type { Received } from '@edgeloom/contract/endpoint.ts';
import { rates } from '@edgeloom/contract/rates/rates.endpoints.ts';
import { Button } from '@mantine/core';
import { IconGauge, IconPlus } from '@tabler/icons-react';
import { useSite } from '../../components/frame/site-scope.ts';
import { Page } from '../../components/page/page.tsx';
import { draftOf } from '../../components/rules/drafts.ts';
import { RuleList } from '../../components/rules/rule-list.tsx';
import { RulesBar } from '../../components/rules/rules-bar.tsx';
import classes from '../../components/rules/rules.module.css';
import { useDrafting } from '../../components/rules/use-drafting.ts';
import { Await } from '../../components/states/await.tsx';
import { EmptyState } from '../../components/states/states.tsx';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { useCan } from '../../lib/use-can.ts';
import { faultsOf, fieldsOf, newRate } from './rate-draft.ts';
import { RateEditor } from './rate-editor.tsx';
import { RateSentence } from './rate-sentence.tsx';

/** Bandwidth limits of a site. */
export function RatesPage() {
  const { id } = useSite();
  const found = useEndpoint(rates.list, { params: { siteId: id } });
  return (
    <Await result={found} page="rates.title">
      {({ data }) => <Loaded key={id} siteId={id} published={data} />}
    </Await>
  );
}

function useRates(siteId: string, published: Received<typeof rates.list>['data']) {
  const can = useCan();
  return useDrafting({
    key: `rates ${siteId}`,
    live: draftOf(published),
    locked: !can(rates.update),
    fieldsOf,
    faultsOf,
    isRule: (kept) => 'rate' in kept,
    calls: rates,
    params: { siteId },
    field: 'rates',
  });
}

function Loaded({ siteId, published }: { siteId: string; published: Received<typeof rates.list>['data'] }) {
  const t = useT();
  const drafting = useRates(siteId, published);
  const isEmpty = drafting.rules.length === 0 && drafting.changes.length === 0;
  const adding = !drafting.locked && (
    <Button data-main-action leftSection={<IconPlus size={15} stroke={1.8} />} onClick={() => drafting.add(newRate())}>
      {t('rates.create')}
    </Button>
  );
  return (
    <Page title="rates.title" actions={!isEmpty && adding}>
      {isEmpty ? (
        <EmptyState icon={IconGauge} title={t('rates.empty.title')} text={t('rates.empty.text')} action={adding} />
      ) : (
        <div className={classes['panel']}>
          <p className={classes['order']}>{t('rates.order')}</p>
          <RuleList drafting={drafting} label={t('rates.title')} sentence={RateSentence} editor={RateEditor} />
        </div>
      )}
      <RulesBar lists={[drafting]} />
    </Page>
  );
}
