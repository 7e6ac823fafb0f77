import type { Received } from '@edgeloom/contract/endpoint.ts';
import { siteAntiHeaders } from '@edgeloom/contract/hotlink/hotlink.endpoints.ts';
import { Button } from '@mantine/core';
import { IconLinkOff, IconPlus } from '@tabler/icons-react';
import { Link } from 'react-router-dom';
import { useSite } from '../../components/frame/site-scope.ts';
import { Page } from '../../components/page/page.tsx';
import { RuleList } from '../../components/rules/rule-list.tsx';
import { RulesBar } from '../../components/rules/rules-bar.tsx';
import classes from '../../components/rules/rules.module.css';
import { Await } from '../../components/states/await.tsx';
import { EmptyState } from '../../components/states/states.tsx';
import { useT } from '../../lib/i18n.ts';
import { siteAddress } from '../../lib/site-address.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { newHeader } from './header-draft.ts';
import { HeaderEditor } from './header-editor.tsx';
import { HeaderSentence } from './header-sentence.tsx';
import { useSiteAntiHeaders } from './use-hotlink.ts';

/** Rules for all domains of a site. Referer rules are on the domain page. */
export function HotlinkPage() {
  const { id } = useSite();
  const found = useEndpoint(siteAntiHeaders.list, { params: { siteId: id } });
  return (
    <Await result={found} page="hotlink.title">
      {(published) => <Loaded key={id} published={published} />}
    </Await>
  );
}

function Loaded({ published }: { published: Received<typeof siteAntiHeaders.list> }) {
  const t = useT();
  const site = useSite();
  const drafting = useSiteAntiHeaders(site.id, published);
  const { rules, locked, changes, add } = drafting;
  const isEmpty = rules.length === 0 && changes.length === 0;
  const adding = (
    <Button data-main-action leftSection={<IconPlus size={15} stroke={1.8} />} onClick={() => add(newHeader())}>
      {t('hotlink.headers.add')}
    </Button>
  );
  const toDomains = (
    <Button component={Link} to={siteAddress(site, 'domains')} variant="default">
      {t('hotlink.toDomains')}
    </Button>
  );
  return (
    <Page
      title="hotlink.title"
      actions={
        !isEmpty && (
          <>
            {toDomains}
            {!locked && adding}
          </>
        )
      }
    >
      {isEmpty ? (
        <EmptyState
          icon={IconLinkOff}
          title={t('hotlink.empty.title')}
          text={t('hotlink.empty.text')}
          action={
            <>
              {!locked && adding}
              {toDomains}
            </>
          }
        />
      ) : (
        <div className={classes['panel']}>
          <p className={classes['order']}>
            {t('hotlink.headers.all')} {t('hotlink.headers.order')}
          </p>
          <RuleList
            drafting={drafting}
            label={t('hotlink.headers.title')}
            sentence={HeaderSentence}
            editor={HeaderEditor}
          />
        </div>
      )}
      <RulesBar lists={[drafting]} />
    </Page>
  );
}
