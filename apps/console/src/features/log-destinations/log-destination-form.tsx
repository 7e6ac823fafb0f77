import { logDestinations } from '@edgeloom/contract/log-destinations/log-destinations.endpoints.ts';
import {
  changedLogDestination,
  LogDestinationKind,
  newLogDestination,
} from '@edgeloom/contract/log-destinations/log-destinations.ts';
import { SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import { NumberField } from '../../components/fields/number-field.tsx';
import { PasswordField } from '../../components/fields/password-field.tsx';
import { SwitchField } from '../../components/fields/switch-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import type { RowOf } from '../../components/resource-table/columns.tsx';
import { useT } from '../../lib/i18n.ts';
import classes from './log-destinations.module.css';

export type LogDestination = RowOf<typeof logDestinations.list>;

/** Each kind has its own form, so that a secret typed for one is not sent to another. */
export function LogDestinationForm({ siteId, value }: { siteId: string; value?: LogDestination }) {
  const t = useT();
  const [kind, setKind] = useState<LogDestinationKind>(value?.kind ?? 'http');
  return (
    <>
      {!value && (
        <div className={classes['kind']}>
          <SegmentedControl
            fullWidth
            aria-label={t('logDestinations.fields.kind')}
            data={LogDestinationKind.options.map((each) => ({
              value: each,
              label: t(`logDestinations.kinds.${each}`),
            }))}
            value={kind}
            onChange={(next) => setKind(LogDestinationKind.parse(next))}
          />
        </div>
      )}
      <ResourceForm
        key={kind}
        create={logDestinations.create}
        update={logDestinations.update}
        params={{ siteId }}
        {...(value && { value: { id: value.id, name: value.name, ...value.settings } })}
        words="logDestinations"
        schema={(value ? changedLogDestination : newLogDestination)[kind]}
        wrap={(input) => ({ ...input, kind, ...(value && { id: value.id, enabled: value.enabled }) })}
        submitLabel={value ? 'common.save' : 'logDestinations.create'}
      >
        <TextField name="name" />
        {kind === 'http' && (
          <>
            <TextField name="url" placeholder="https://logs.example.com/in" />
            <TextField name="headerName" nullable placeholder="X-Api-Key" />
          </>
        )}
        {kind === 's3' && (
          <>
            <TextField name="endpoint" placeholder="https://s3.eu-central-1.amazonaws.com" />
            <TextField name="region" placeholder="eu-central-1" />
            <TextField name="bucket" />
            <TextField name="prefix" placeholder="cdn/" />
            <TextField name="accessKeyID" />
          </>
        )}
        {kind === 'syslog' ? (
          <>
            <TextField name="host" placeholder="syslog.example.com" />
            <NumberField name="port" />
            <SwitchField name="tls" />
            <TextField name="ca" long mono placeholder="-----BEGIN CERTIFICATE-----" />
          </>
        ) : (
          <PasswordField name="secret" fresh />
        )}
      </ResourceForm>
    </>
  );
}
