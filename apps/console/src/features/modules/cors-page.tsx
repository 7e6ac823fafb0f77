import { cors } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { IconArrowsExchange } from '@tabler/icons-react';
import { useSite } from '../../components/frame/site-scope.ts';
import { Effect, If, Lit, Sentence, Then } from '../../components/sentence/sentence.tsx';
import { useT } from '../../lib/i18n.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import { CorsForm, type Cors } from './cors-form.tsx';
import { ModulesPage, Sentences } from './modules-page.tsx';

export function CorsPage() {
  const { id: siteId } = useSite();
  const params = { siteId };
  const found = useEndpoint(cors.list, { params, query: { pageSize: 500 } });
  const { run } = useAction(cors.remove, { done: 'common.removed' });
  return (
    <ModulesPage
      kind="cors"
      words="cors"
      icon={IconArrowsExchange}
      found={found}
      calls={cors}
      onRemove={({ id }) => void run({ params, body: { ids: [id] } })}
      form={CorsForm}
    >
      {(row) => (
        <Sentences>
          <li>
            <CorsSentence row={row} />
          </li>
        </Sentences>
      )}
    </ModulesPage>
  );
}

const SHOWN = 6;

function CorsSentence({ row }: { row: Cors }) {
  const t = useT();
  const { allowOrigins, allowMethods, allowHeaders, exposeHeaders, allowCredentials, maxAge } = row;
  const more = allowOrigins.length - SHOWN;
  return (
    <Sentence>
      <If /> {t('cors.sentence.from')}
      {allowOrigins.includes('*') ? (
        <span>{t('cors.sentence.anyone')}</span>
      ) : (
        allowOrigins.slice(0, SHOWN).map((origin) => <Lit key={origin}>{origin}</Lit>)
      )}
      {more > 0 && <span>{t('cors.sentence.more', { count: more })}</span>}
      <Then />
      <Effect>{t('cors.sentence.allow')}</Effect>
      <Lit>{allowMethods.join(' ')}</Lit>
      {allowHeaders.length > 0 && t('cors.sentence.with')}
      {allowHeaders.length > 0 && <Lit>{allowHeaders.join(' ')}</Lit>}
      {exposeHeaders.length > 0 && t('cors.sentence.shows')}
      {exposeHeaders.length > 0 && <Lit>{exposeHeaders.join(' ')}</Lit>}
      {allowCredentials && t('cors.sentence.credentials')}
      {t('cors.sentence.for', { count: maxAge })}
    </Sentence>
  );
}
