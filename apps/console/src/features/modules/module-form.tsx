import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { domainModules } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { onlyAtCreation, type ModuleKind } from '@edgeloom/contract/modules/modules.ts';
import { Input, Radio, Stack } from '@mantine/core';
import { useMemo, type ReactNode } from 'react';
import type * as z from 'zod';
import { MetaMultiSelect } from '../../components/fields/meta-select.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { useField, type Values } from '../../components/resource-form/form-state.ts';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import type { Telling } from '../../lib/errors.ts';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { useMetaSearch } from '../../lib/use-meta.ts';

interface ModuleFormProps extends Telling {
  kind: ModuleKind;
  endpoints: { create: Endpoint; update: Endpoint };
  siteId: string;
  value: { id: string } | undefined;
  /** A new module's values, over the schema's defaults. */
  initial?: Values;
  schema: z.ZodObject;
  children?: ReactNode;
}

/** Name, content, and for a new module the domains that get it. */
export function ModuleForm(props: ModuleFormProps) {
  const { kind, endpoints, siteId, value, initial, schema, children, ...telling } = props;
  const creationSchema = useMemo(() => schema.safeExtend(onlyAtCreation), [schema]);
  const listName = kind === 'cors' ? 'cors' : 'modules';
  return (
    <ResourceForm
      preview
      create={endpoints.create}
      update={endpoints.update}
      params={{ siteId }}
      value={value}
      initial={value ? {} : { appliesTo: 'unassigned', ...initial }}
      schema={value ? schema : creationSchema}
      refreshes={['domainModules']}
      wrap={(module) => ({ [listName]: [value ? { id: value.id, ...module } : module] })}
      {...telling}
    >
      <TextField name="name" />
      {children}
      {!value && <AppliesToField siteId={siteId} kind={kind} />}
    </ResourceForm>
  );
}

/** The preset is `unassigned`. While no domain has a module of the kind, that means all domains, and is labelled so. */
function AppliesToField({ siteId, kind }: { siteId: string; kind: ModuleKind }) {
  const t = useT();
  const { value, set, input } = useField('appliesTo');
  const params = { siteId };
  const assignments = useEndpoint(domainModules.list, { params: { ...params, kind }, query: { pageSize: 1 } });
  const chosen = Array.isArray(value) ? value.map(String) : [];
  const choices = useMetaSearch(domains.meta, { params, chosen });
  const hasAssignments = (assignments.data?.total ?? 0) > 0;
  return (
    <Input.Wrapper id={input.id} label={input.label} labelElement="div" error={input.error}>
      <Radio.Group
        aria-label={input.label}
        value={Array.isArray(value) ? 'these' : String(value)}
        onChange={(choice) => set(choice === 'these' ? [] : choice)}
      >
        <Stack gap={8} mt={4}>
          <Radio
            value="unassigned"
            disabled={input.disabled}
            label={t(hasAssignments ? 'domainModules.appliesTo.unassigned' : 'domainModules.appliesTo.all')}
          />
          {hasAssignments && (
            <Radio
              value="all"
              disabled={input.disabled}
              label={t('domainModules.appliesTo.all')}
              description={t('domainModules.instead')}
            />
          )}
          <Radio value="these" disabled={input.disabled} label={t('domainModules.appliesTo.these')} />
          {Array.isArray(value) && (
            <MetaMultiSelect
              aria-label={t('domainModules.domains')}
              description={t(chosen.length > 0 ? 'domainModules.instead' : 'domainModules.appliesTo.none')}
              choices={choices}
              value={chosen}
              onChange={set}
              disabled={input.disabled}
              clearButtonProps={{ 'aria-label': t('domainModules.clear') }}
            />
          )}
        </Stack>
      </Radio.Group>
    </Input.Wrapper>
  );
}
