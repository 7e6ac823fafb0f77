import { siteDns } from '@edgeloom/contract/site-dns/site-dns.endpoints.ts';
import { siteDnsForms } from '@edgeloom/contract/site-dns/site-dns.ts';
import { DnsAccountForm } from '../../components/dns-account/dns-account-form.tsx';
import { LinesField } from '../../components/fields/lines-field.tsx';
import type { RowOf } from '../../components/resource-table/columns.tsx';

export type SiteDns = RowOf<typeof siteDns.list>;

export const SiteDnsForm = ({ siteId, value }: { siteId: string; value?: SiteDns }) => (
  <DnsAccountForm
    create={siteDns.create}
    update={siteDns.update}
    params={{ siteId }}
    provider={value?.provider}
    value={value && { id: value.id, domains: value.domains }}
    schemas={siteDnsForms}
    wrap={(provider, { domains, ...credentials }) => ({
      provider,
      domains,
      credentials,
      ...(value && { id: value.id }),
    })}
    submitLabel={value ? 'common.save' : 'siteDns.create'}
  >
    <LinesField name="domains" placeholder="example.com" rows={3} />
  </DnsAccountForm>
);
