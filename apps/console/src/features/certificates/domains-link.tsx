import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { Link } from 'react-router-dom';
import { useOverlayClose } from '../../components/overlay/overlay.tsx';
import { Count } from '../../components/values/values.tsx';
import { count as countText } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { siteAddress } from '../../lib/site-address.ts';
import { useCan } from '../../lib/use-can.ts';
import classes from './certificates.module.css';

interface DomainsLinkProps {
  site: { id: string; name: string };
  certId: string;
  count: number;
}

/** Number of domains that use the certificate, with a link to their list. */
export function DomainsLink({ site, certId, count }: DomainsLinkProps) {
  const t = useT();
  const can = useCan();
  const close = useOverlayClose();
  if (count === 0 || !can(domains.list)) return <Count of={count} />;
  return (
    <Link
      className={classes['link'] ?? ''}
      to={`${siteAddress(site, 'domains')}&certificateID=${certId}`}
      onClick={() => close()}
    >
      {t('certificates.domainCount', { count, number: countText(count) })}
    </Link>
  );
}
