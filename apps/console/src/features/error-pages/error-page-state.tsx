import { Pill } from '../../components/status/status.tsx';
import { useT } from '../../lib/i18n.ts';
import type { ErrorPage } from './error-page-form.tsx';

export function ErrorPageType({ page: { type } }: { page: Pick<ErrorPage, 'type'> }) {
  return useT()(`errorPages.choices.type.${type}`);
}

export function ErrorPageState({ page: { enabled } }: { page: Pick<ErrorPage, 'enabled'> }) {
  const t = useT();
  return <Pill tone={enabled ? 'ok' : 'off'}>{t(enabled ? 'common.on' : 'common.off')}</Pill>;
}
