import { useState } from 'react';
import { Status } from '../../components/status/status.tsx';
import { useT } from '../../lib/i18n.ts';

interface Known {
  status: string;
  expiry: string | null;
  hasRequest: boolean;
  error: string | null;
}
const DAY_MS = 86_400_000;
/** Warn this long before expiry. */
const SOON_MS = 14 * DAY_MS;

/** State of a certificate, with the error of a failed one. */
export function CertificateState({ of: { status, expiry, hasRequest, error } }: { of: Known }) {
  const t = useT();
  const [now] = useState(() => Date.now());
  if (hasRequest && status === 'none')
    return <Status kind="cert" value="pending" text={t('certificates.waitsForChain')} />;
  const left = expiry === null ? Infinity : Date.parse(expiry) - now;
  if (status !== 'success' || left >= SOON_MS) return <Status kind="cert" value={status} why={error} />;
  if (left <= 0) return <Status kind="cert" value="expired" />;
  return <Status kind="cert" value="expiring" text={t('certificates.endsIn', { count: Math.ceil(left / DAY_MS) })} />;
}
