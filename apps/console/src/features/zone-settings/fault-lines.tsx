import type { SnippetFaultAt } from '@edgeloom/contract/zone-settings/zone-settings.ts';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { useT } from '../../lib/i18n.ts';
import { faultText } from './in-words.ts';

/** Errors of snippets with their position. */
export function FaultLines({ faults }: { faults: readonly SnippetFaultAt[] }) {
  const t = useT();
  return faults.map((fault) => (
    <li key={`${fault.part}:${fault.line}:${fault.column}`}>
      <StatusMark tone="bad" />
      <span>
        {t('zoneSettings.faultAt', { part: t(`zoneSettings.fields.${fault.part}`), line: fault.line })}{' '}
        {faultText(t, fault)}
      </span>
    </li>
  ));
}
