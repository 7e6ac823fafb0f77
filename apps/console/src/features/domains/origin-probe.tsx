import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { useDebouncedValue } from '@mantine/hooks';
import { HostAddress } from '@edgeloom/contract/common/net.ts';
import { useEffect } from 'react';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { explain } from '../../lib/errors.ts';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import classes from './add-domains.module.css';

export type Probe = Received<typeof domains.probe>;

interface OriginProbeProps {
  siteId: string;
  address: string;
  port: number;
  /** Host header of the probe. */
  host: string | null;
  onFound?: (probe: Probe) => void;
}

const REST_MS = 800;

/** Tests the origin when typing stops. */
export function OriginProbe({ siteId, address, port, host, onFound }: OriginProbeProps) {
  const t = useT();
  const now = `${address} ${port}`;
  const [asked] = useDebouncedValue(now, REST_MS);
  const isComplete = HostAddress.safeParse(address).success && Number.isInteger(port) && port >= 1 && port <= 65_535;
  const { data, error, refreshing } = useEndpoint(
    domains.probe,
    { params: { siteId }, body: { address, port, host } },
    { enabled: isComplete && asked === now },
  );
  const found = isComplete && asked === now && !refreshing ? data : undefined;
  useEffect(() => {
    if (found) onFound?.(found);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- runs once per result
  }, [found]);
  if (!isComplete) return null;
  const place = address.includes(':') ? `[${address}]:${port}` : now.replace(' ', ':');
  if (error && !found)
    return <p className={classes['probe']}>{t('domains.probe.failed', { place, why: explain(error).text })}</p>;
  if (!found)
    return (
      <p className={classes['probe']}>
        <StatusMark tone="busy" /> {t('domains.probe.asking', { place })}
      </p>
    );
  return (
    <output className={classes['probe']}>
      <StatusMark tone={found.reachable ? 'ok' : 'warn'} />{' '}
      {found.reachable
        ? t('domains.probe.answers', {
            place,
            scheme: found.scheme === 'https' ? 'HTTPS' : 'HTTP',
            status: found.status ?? 0,
          })
        : t('domains.probe.silent', { place })}
    </output>
  );
}
