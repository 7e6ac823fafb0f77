import type { Sent } from '@edgeloom/contract/endpoint.ts';
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
import { currentWindow, type Period, type TimeWindow } from './log-state.ts';

const exportsPath = 'dataAnalysis/logExport';

export interface ExportMenuProps {
  period: Period;
  /** The log and its filters. */
  bodyOf: (window: TimeWindow, format: LogExportFormat) => Sent<typeof logExports.create>['body'];
}

/** Exports the rows that the page shows, all of them, in the background. */
export function ExportMenu({ period, bodyOf }: ExportMenuProps) {
  const t = useT();
  const can = useCan();
  const navigate = useNavigate();
  const create = useAction(logExports.create);
  if (!can(logExports.list)) return null;
  const start = async (format: LogExportFormat) => {
    if ((await create.run({ body: bodyOf(currentWindow(period), format) })) === null) return;
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
