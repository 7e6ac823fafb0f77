import { sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import type { LogSetting } from '@edgeloom/contract/sites/sites.ts';
import { ActionIcon } from '@mantine/core';
import { IconPencil } from '@tabler/icons-react';
import { NumberField } from '../../components/fields/number-field.tsx';
import { SwitchField } from '../../components/fields/switch-field.tsx';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { Nothing } from '../../components/values/values.tsx';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import classes from './sites.module.css';

/** The fields that the access log of the site leaves out. */
export function LogMasks({ siteId }: { siteId: string }) {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  const { data } = useEndpoint(sites.logSetting, { params: { siteId } });
  if (data === undefined) return <Nothing />;
  const masked = (['maskAddress', 'maskQuery'] as const).filter((name) => data[name]);
  const parts = [
    ...masked.map((name) => t(`sites.overview.${name}`)),
    ...(data.sampling > 1 ? [t('sites.overview.sampled', { requests: data.sampling })] : []),
  ];
  return (
    <span className={classes['tags']}>
      {parts.length === 0 ? t('sites.overview.logsWhole') : parts.join(t('common.comma'))}
      {can(sites.setLogSetting) && (
        <ActionIcon
          size={20}
          aria-label={t('sites.overview.editLogs')}
          title={t('sites.overview.editLogs')}
          onClick={() => overlay(<MasksForm siteId={siteId} value={data} />, { title: 'sites.overview.editLogs' })}
        >
          <IconPencil size={14} stroke={1.6} />
        </ActionIcon>
      )}
    </span>
  );
}

function MasksForm({ siteId, value }: { siteId: string; value: LogSetting }) {
  return (
    <ResourceForm update={sites.setLogSetting} params={{ siteId }} value={value}>
      <SwitchField name="maskAddress" />
      <SwitchField name="maskQuery" />
      <NumberField name="sampling" min={1} />
    </ResourceForm>
  );
}
