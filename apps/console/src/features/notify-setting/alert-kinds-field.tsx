import { AlertKind, alertKinds } from '@edgeloom/contract/alerts/alerts.ts';
import { ManyField } from '../../components/fields/many-field.tsx';
import { family } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';

/** The kinds of alerts that a channel sends. Customers choose among those of their sites. */
export function AlertKindsField() {
  const t = useT();
  const kinds = AlertKind.options.filter((kind) => family === 'client' || alertKinds[kind].isOfSite);
  return <ManyField name="events" data={kinds.map((value) => ({ value, label: t(`alerts.kinds.${value}`) }))} />;
}
