import { licenseOffers, operatorLicenses } from '@edgeloom/contract/licenses/licenses.endpoints.ts';
import { LicenseSetting, type Licensed } from '@edgeloom/contract/licenses/licenses.ts';
import { Select } from '@mantine/core';
import { IconLicense, IconUsers } from '@tabler/icons-react';
import { useState } from 'react';
import { Label } from '../../components/fields/label.tsx';
import { TimeField } from '../../components/fields/time-field.tsx';
import { useField, type Values } from '../../components/resource-form/form-state.ts';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { edit, open } from '../../components/resource-table/actions.tsx';
import type { Column, RowOf } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Status } from '../../components/status/status.tsx';
import { Nothing, Time } from '../../components/values/values.tsx';
import { count } from '../../lib/format.ts';
import { t, useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { LimitFields } from './limit-fields.tsx';
import { termOf } from './terms.tsx';

type Operator = RowOf<typeof operatorLicenses.list>;

const usage =
  (thing: Licensed) =>
  ({ uses, limits }: Operator) =>
    limits[thing] === 0
      ? count(uses[thing])
      : t('licenses.ofLimit', { count: count(uses[thing]), limit: count(limits[thing]) });
const endOf = ({ endsAt }: Operator) => (endsAt === null ? t('licenses.never') : <Time at={endsAt} />);

const columns: Column<Operator>[] = [
  { key: 'clientName', to: ({ accountID }) => `userManagement/users/${accountID}` },
  { key: 'status', render: ({ status }) => <Status kind="account" value={status} /> },
  { key: 'name', render: ({ name }) => name ?? <Nothing /> },
  { key: 'sites', align: 'right', render: usage('sites') },
  { key: 'domains', align: 'right', render: usage('domains') },
  { key: 'nodes', align: 'right', render: usage('nodes'), priority: 2 },
  { key: 'endsAt', render: endOf },
];

export function OperatorLicenses() {
  return (
    <ResourceTable
      key="operators"
      endpoint={operatorLicenses.list}
      columns={columns}
      row={(operator) => [
        open({
          label: 'licenses.issue',
          icon: IconLicense,
          element: <IssueForm operator={operator} />,
          can: licenseOffers.issue.can,
        }),
        // An operator without a license has nothing to change.
        ...(operator.isLicensed
          ? [edit(<SettingForm operator={operator} />, { label: 'licenses.change', can: operatorLicenses.update.can })]
          : []),
      ]}
      phone={(operator) => ({ below: endOf(operator), end: usage('sites')(operator) })}
      empty={{ icon: IconUsers }}
    />
  );
}

function IssueForm({ operator }: { operator: Operator }) {
  return (
    <ResourceForm
      create={licenseOffers.issue}
      initial={{ userID: operator.id }}
      // A draft belongs to this operator.
      params={{ userID: operator.id }}
      words="licenses"
      submitLabel="licenses.issue"
      done="licenses.issued"
      refreshes={['licenses', 'attention']}
    >
      <OfferField operator={operator} />
    </ResourceForm>
  );
}

/** A running license keeps layer 4, so that offers without it are disabled. */
function OfferField({ operator }: { operator: Operator }) {
  const t = useT();
  const { value, set, input } = useField('licenseID');
  const found = useEndpoint(licenseOffers.list, { query: { pageSize: 500 } });
  const [now] = useState(() => Date.now());
  const isRunning = operator.endsAt === null || Date.parse(operator.endsAt) > now;
  const keepsLayer4 = operator.isLicensed && operator.layer4 && isRunning;
  const data = (found.data?.data ?? []).map(({ id, name, days, layer4 }) => {
    const isDisabled = keepsLayer4 && !layer4;
    const label = `${name} · ${termOf(days)}`;
    return {
      value: id,
      label: isDisabled ? t('licenses.withoutLayer4', { offer: label }) : label,
      disabled: isDisabled,
    };
  });
  return (
    <div>
      <Select
        {...input}
        label={<Label text={input.label} optional={false} />}
        data={data}
        searchable
        allowDeselect={false}
        placeholder={t('common.form.choose')}
        value={typeof value === 'string' ? value : null}
        onChange={(next) => next !== null && set(next)}
      />
    </div>
  );
}

/** Sends the changed fields only, since somebody may issue a license while the form is open. */
function SettingForm({ operator }: { operator: Operator }) {
  const { id, limits, monitorSeconds, endsAt } = operator;
  const before: Record<string, unknown> = {
    siteLimit: limits.sites,
    nodeLimit: limits.nodes,
    zoneLimit: limits.zones,
    domainLimit: limits.domains,
    autoCertificateLimit: limits.autoCertificates,
    monitorSeconds,
    endsAt,
  };
  const changed = (values: Values) =>
    Object.fromEntries(Object.entries(values).filter(([name, value]) => value !== before[name]));
  return (
    <ResourceForm
      update={operatorLicenses.update}
      params={{ userId: id }}
      schema={LicenseSetting}
      wrap={(values) => ({ licenseSetting: changed(values) })}
      value={before}
      words="licenses"
      refreshes={['attention']}
    >
      <LimitFields />
      <TimeField name="endsAt" nullable />
    </ResourceForm>
  );
}
