import { licenses } from '@edgeloom/contract/licenses/licenses.calls.ts';
import { IconLicense } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'react-router-dom';
import { Banner } from '../../components/frame/banner.tsx';
import { to } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';

const SHOWN_DAYS = 30;
const DAY_MS = 86_400_000;

/** For an operator whose license ends within 30 days, or has ended. */
export function LicenseBanner() {
  const t = useT();
  const can = useCan();
  const [now] = useState(() => Date.now());
  const { data } = useEndpoint(licenses.own, {}, { enabled: can(licenses.own) });
  if (data?.endsAt == null) return null;
  const days = Math.ceil((Date.parse(data.endsAt) - now) / DAY_MS);
  if (days > SHOWN_DAYS) return null;
  return (
    <Banner
      tone={days > 0 ? 'warn' : 'bad'}
      icon={IconLicense}
      action={<Link to={to('userManagement/userInformation')}>{t('licenses.banner.view')}</Link>}
    >
      {days > 0 ? t('licenses.banner.ending', { count: days }) : t('licenses.banner.ended')}
    </Banner>
  );
}
