import type { zoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import { changesBetween } from '@edgeloom/contract/zone-settings/changes.ts';
import type { ConfigDraft } from '@edgeloom/contract/zone-settings/zone-settings.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { useState, type ReactNode } from 'react';
import { LeaveGuard } from '../../components/leave-guard/leave-guard.tsx';
import { SaveBar } from '../../components/save-bar/save-bar.tsx';
import { useT } from '../../lib/i18n.ts';
import { changeText } from './in-words.ts';
import { Review } from './review.tsx';

/** Ports have a tab of their own. */
export type Draft = Omit<ConfigDraft, 'ports'>;
export type Settings = Received<typeof zoneSettings.get>;

interface DraftingProps {
  zoneId: string;
  settings: Settings;
  /** The fields, over what is set with the draft in its place. */
  children: (value: Settings, set: (patch: Draft) => void) => ReactNode;
}

/** Nothing of a zone is saved without having been looked at: the bar leads to the review, which publishes. */
export function Drafting({ zoneId, settings, children }: DraftingProps) {
  const t = useT();
  const [draft, setDraft] = useState<Draft>({});
  const [isReviewed, setReviewed] = useState(false);
  const value = applied(settings, draft);
  const changes = changesBetween(settings, value).map((change) => changeText(t, change));
  const discard = () => {
    setDraft({});
    setReviewed(false);
  };
  return (
    <>
      {isReviewed ? (
        <Review zoneId={zoneId} settings={settings} draft={draft} onBack={() => setReviewed(false)} onDone={discard} />
      ) : (
        <>
          {children(value, (patch) => setDraft({ ...draft, ...patch }))}
          <SaveBar
            changes={changes}
            saveLabel="zoneSettings.review"
            onSave={() => setReviewed(true)}
            onDiscard={discard}
          />
        </>
      )}
      <LeaveGuard when={changes.length > 0} />
    </>
  );
}

const applied = (settings: Settings, { nginx, ...draft }: Draft): Settings => ({
  ...settings,
  ...withoutAbsent(draft),
  nginx: { ...settings.nginx, ...withoutAbsent(nginx ?? {}) },
});
function withoutAbsent<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> };
function withoutAbsent(values: object): object {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
