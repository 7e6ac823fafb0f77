import { customHeaders } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { IconFileCode } from '@tabler/icons-react';
import { useSite } from '../../components/frame/site-scope.ts';
import { Effect, If, Lit, Sentence, Then } from '../../components/sentence/sentence.tsx';
import { useT } from '../../lib/i18n.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import { HeadersForm, type CustomHeader } from './headers-form.tsx';
import { ModulesPage, Sentences } from './modules-page.tsx';

export function HeadersPage() {
  const { id: siteId } = useSite();
  const params = { siteId };
  const found = useEndpoint(customHeaders.list, { params, query: { pageSize: 500 } });
  const { run } = useAction(customHeaders.remove, { done: 'common.removed' });
  return (
    <ModulesPage
      kind="customHeader"
      words="customHeaders"
      icon={IconFileCode}
      found={found}
      calls={customHeaders}
      onRemove={({ id }) => void run({ params, body: { ids: [id] } })}
      form={HeadersForm}
    >
      {({ headers }) => (
        <Sentences>
          {headers.map((header) => (
            <li key={`${header.direction} ${header.name}`}>
              <HeaderSentence header={header} />
            </li>
          ))}
        </Sentences>
      )}
    </ModulesPage>
  );
}

function HeaderSentence({ header: { direction, action, name, value } }: { header: CustomHeader['headers'][number] }) {
  const t = useT();
  return (
    <Sentence>
      <If /> {t(`customHeaders.sentence.${direction}`)} <Then />
      <Effect refuse={action === 'remove'}>{t(`customHeaders.sentence.${action}`)}</Effect>
      <Lit>{action === 'remove' ? name : `${name}: ${value}`}</Lit>
    </Sentence>
  );
}
