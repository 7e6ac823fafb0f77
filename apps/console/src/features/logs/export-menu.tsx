import { logExports } from '@edgeloom/contract/log-exports/log-exports.endpoints.ts';
import { LogExportFormat } from '@edgeloom/contract/log-exports/log-exports.ts';
import { Button, Menu } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { Link, useNavigate } from 'react-router-dom';
import { to } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useAction } from '../../lib/use-endpoint.ts';
import { toast } from '../../stores/toasts.ts';
import { questionOf, windowOf, type LogState } from './log-state.ts';

const exportsPath = 'dataAnalysis/logExport';

/** Exports the requests that the page shows, all of them, in the background. */
export function ExportMenu({ state }: { state: LogState }) {
  const t = useT();
  const can = useCan();
  const navigate = useNavigate();
  const create = useAction(logExports.create);
  if (!can(logExports.list)) return null;
  const start = async (format: LogExportFormat) => {
    const query = { ...questionOf(state), ...windowOf(state.period, Date.now()) };
    if ((await create.run({ body: { format, query } })) === null) return;
    const action = { label: t('logs.export.show'), run: () => void navigate(to(exportsPath)) };
    toast({ text: t('logs.export.started'), action });
  };
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" leftSection={<IconDownload size={15} stroke={1.6} />} loading={create.running}>
          {t('logs.export.title')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {can(logExports.create) &&
          LogExportFormat.options.map((format) => (
            <Menu.Item key={format} onClick={() => void start(format)}>
              {t(`logs.export.formats.${format}`)}
            </Menu.Item>
          ))}
        <Menu.Item component={Link} to={to(exportsPath)}>
          {t('logs.export.all')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
