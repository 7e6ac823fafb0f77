import type { listSources } from '@edgeloom/contract/list-sources/list-sources.endpoints.ts';
import {
  ListSourceInput,
  ListSourceKind,
  NewCrowdSecSource,
  sourceIntervals,
} from '@edgeloom/contract/list-sources/list-sources.ts';
import { Input, SegmentedControl, Select } from '@mantine/core';
import { useState } from 'react';
import { PasswordField } from '../../components/fields/password-field.tsx';
import { SwitchField } from '../../components/fields/switch-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { useField } from '../../components/resource-form/form-state.ts';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import type { RowOf } from '../../components/resource-table/columns.tsx';
import { duration } from '../../lib/format.ts';
import { useLanguage, useT } from '../../lib/i18n.ts';
import { callsOf, type SourceOwner } from './list-source-calls.ts';
import classes from './list-sources.module.css';

export type ListSource = RowOf<typeof listSources.list>;

/** Each kind has its own form, so that a key typed for CrowdSec is not sent with a URL. */
export function ListSourceForm({ owner, value }: { owner: SourceOwner; value?: ListSource }) {
  const t = useT();
  const { create, update } = callsOf(owner);
  const [kind, setKind] = useState<ListSourceKind>(value?.kind ?? 'url');
  return (
    <>
      {!value && (
        <div className={classes['kind']}>
          <SegmentedControl
            fullWidth
            aria-label={t('listSources.fields.kind')}
            data={ListSourceKind.options.map((each) => ({ value: each, label: t(`listSources.sources.${each}`) }))}
            value={kind}
            onChange={(next) => setKind(ListSourceKind.parse(next))}
          />
        </div>
      )}
      <ResourceForm
        key={kind}
        create={create}
        update={update}
        params={owner}
        value={value}
        schema={kind === 'crowdSec' && !value ? NewCrowdSecSource : ListSourceInput}
        words={kind === 'url' ? 'listSources' : 'listSources.crowdSec'}
        wrap={(body) => ({ ...body, kind, ...(value && { id: value.id }) })}
      >
        <TextField name="name" />
        {kind === 'url' ? (
          <>
            <TextField name="url" mono placeholder="https://lists.example.com/blocklist.txt" />
            <BlackField />
          </>
        ) : (
          <>
            <TextField name="url" mono placeholder="https://crowdsec.example.com:8080" />
            <PasswordField name="key" fresh />
          </>
        )}
        <IntervalField />
        <MonitorField />
        <SwitchField name="enabled" />
      </ResourceForm>
    </>
  );
}

function BlackField() {
  const t = useT();
  const { value, set, input } = useField('isBlack');
  const monitor = useField('monitor');
  const choose = (isBlack: boolean) => {
    set(isBlack);
    monitor.set(false);
  };
  return (
    <Input.Wrapper label={input.label} labelElement="div">
      <div>
        <SegmentedControl
          aria-label={input.label}
          value={value === false ? 'white' : 'black'}
          data={(['black', 'white'] as const).map((kind) => ({ value: kind, label: t(`listSources.kinds.${kind}`) }))}
          onChange={(kind) => choose(kind === 'black')}
        />
      </div>
    </Input.Wrapper>
  );
}

function IntervalField() {
  const language = useLanguage();
  const { value, set, input } = useField('intervalMinutes');
  return (
    <div>
      <Select
        {...input}
        data={sourceIntervals.map((minutes) => ({ value: String(minutes), label: duration(minutes * 60, language) }))}
        value={String(value)}
        allowDeselect={false}
        onChange={(minutes) => set(Number(minutes))}
      />
    </div>
  );
}

/** An allow list blocks nobody, so there is nothing to monitor. */
function MonitorField() {
  const { value } = useField('isBlack');
  return value === false ? null : <SwitchField name="monitor" />;
}
