import { useEffect } from 'react';
import { useT } from '../../lib/i18n.ts';
import { useJobs } from '../../stores/jobs.ts';
import { usePlace } from '../page/place.ts';
import { useProductName } from './brand.tsx';
import type { SiteInfo } from './site-scope.ts';

/** "Domains · Glow Select · Edgeloom", with "(2)" before it while jobs run. */
export function DocumentTitle({ site }: { site: SiteInfo | null }) {
  const t = useT();
  const { title, name } = usePlace();
  const running = useJobs((state) => state.running);
  const page = name ?? (title && t(title));
  const product = useProductName();
  const text = [page, site?.name, product].filter(Boolean).join(' · ');
  useEffect(() => {
    document.title = running > 0 ? `(${running}) ${text}` : text;
  }, [running, text]);
  return null;
}
