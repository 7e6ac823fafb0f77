import { useState } from 'react';
import { Status } from '../../components/status/status.tsx';
import { useT } from '../../lib/i18n.ts';

interface Known {
  status: string;
  expiry: string | null;
  hasRequest: boolean;
  error: string | null;
}
const SOON_MS = 14 * 86_400_000;

/** What a certificate is now; of one that failed, why. */
export function CertificateState({ of: { status, expiry, hasRequest, error } }: { of: Known }) {
  const t = useT();
  const [now] = useState(() => Date.now());
  if (hasRequest && status === 'none')
    return <Status kind="cert" value="pending" text={t('certificates.waitsForChain')} />;
  const endsSoon = status === 'success' && expiry !== null && Date.parse(expiry) - now < SOON_MS;
  return <Status kind="cert" value={endsSoon ? 'expiring' : status} why={error} />;
}
