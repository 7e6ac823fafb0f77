import { trafficReportFile, trafficUsage } from '@edgeloom/contract/traffic/traffic.endpoints.ts';
import { Button } from '@mantine/core';
import { IconFileExport } from '@tabler/icons-react';
import { useState } from 'react';
import { Page } from '../../components/page/page.tsx';
import { call } from '../../lib/api.ts';
import { byteOrderMark } from '../../lib/csv.ts';
import { toastError } from '../../lib/errors.ts';
import { useT } from '../../lib/i18n.ts';
import { saveFile } from '../../lib/save-file.ts';
import { MonthOf } from './month-of.tsx';
import { monthName, type Month } from './months.ts';

/** Traffic and price of all customers by month. */
export function TrafficReportPage() {
  return (
    <Page title="trafficUsage.title">
      <MonthOf endpoint={trafficUsage.months} Tools={Download} />
    </Page>
  );
}

function Download({ month }: { month: Month }) {
  const t = useT();
  const [loading, setLoading] = useState(false);
  const save = async () => {
    setLoading(true);
    try {
      saveFile(
        `${t('trafficUsage.title')} ${monthName(month)}.csv`,
        // Reading a response as text removes its byte order mark.
        [byteOrderMark, await call(trafficReportFile, { query: month })],
        'text/csv',
      );
    } catch (error) {
      toastError(error);
    } finally {
      setLoading(false);
    }
  };
  return (
    <Button
      variant="default"
      loading={loading}
      leftSection={<IconFileExport size={15} stroke={1.6} />}
      onClick={() => void save()}
    >
      {t('trafficUsage.download')}
    </Button>
  );
}
