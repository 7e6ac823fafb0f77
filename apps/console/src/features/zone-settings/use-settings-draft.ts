import { changesBetween } from '@edgeloom/contract/zone-settings/changes.ts';
import { useCallback, useEffect, useState } from 'react';
import { useLocation } from 'react-router-dom';
import { useKeepDraft, useStoredDraft } from '../../lib/drafts.ts';
import { applied, draftOf, sentOf, type Draft, type Patch, type Settings } from './draft.ts';

interface StoredDraft {
  draft: Draft;
  /** The version of the settings that the draft started from. */
  since: number;
}
/** The open draft. It remains while the reader switches between settings tabs of the zone. */
let open: (StoredDraft & { draftKey: string }) | null = null;

/** The tab of each part that a draft may change. */
export const settingsTabs: Readonly<Record<string, string>> = {
  nginx: 'nginx',
  resource: 'resources',
  http2: 'https',
  http3: 'https',
  soakSeconds: 'https',
  forceSSLRedirectCode: 'https',
  firewall: 'firewall',
  ipset: 'ipset',
  visitorAddress: 'firewall',
  antiCC: 'anticc',
};
const isSettingsTab = ({ search }: Pick<Location, 'search'>) =>
  Object.values(settingsTabs).includes(new URLSearchParams(search).get('tab') ?? '');

const isStoredDraft = (stored: unknown): stored is StoredDraft =>
  typeof stored === 'object' && stored !== null && 'since' in stored;

/** The unpublished changes of a zone's settings. They are kept in the browser. */
export function useSettingsDraft(zoneId: string, settings: Settings) {
  const draftKey = `zoneSettings.set ${zoneId}`;
  const stored = useStoredDraft(draftKey, isStoredDraft);
  const [fromOtherTab] = useState(() => (open?.draftKey === draftKey ? open : null));
  const [draft, setDraft] = useState(fromOtherTab?.draft ?? stored?.draft ?? draftOf(settings, settings));
  const [isRestored, setRestored] = useState(stored !== null);
  const [discards, setDiscards] = useState(0);
  const [since, setSince] = useState(fromOtherTab?.since ?? stored?.since ?? settings.version);
  const value = applied(settings, draft);
  const changes = changesBetween(settings, value);
  const isDirty = changes.length > 0;
  useKeepDraft(draftKey, () => (isDirty ? { draft, since } : undefined));
  // Without changes, the draft follows newer settings.
  if (since !== settings.version && !isDirty) setSince(settings.version);

  const { pathname } = useLocation();
  /** Whether the draft stays open on this page. */
  const keeps = useCallback(
    (next: Pick<Location, 'pathname' | 'search'>) => next.pathname === pathname && isSettingsTab(next),
    [pathname],
  );
  useEffect(() => {
    open = isDirty ? { draftKey, draft, since } : null;
  });
  useEffect(
    () => () => {
      if (!keeps(window.location)) open = null;
    },
    [keeps],
  );
  return {
    value,
    changes,
    isDirty,
    isRestored,
    body: sentOf(settings, draft),
    since,
    /** A change remounts uncontrolled fields. */
    edition: `${discards} ${since}`,
    keeps,
    set: (patch: Patch) => setDraft(draftOf(settings, { ...value, ...patch })),
    discard: () => {
      setDraft(draftOf(settings, settings));
      setRestored(false);
      setDiscards(discards + 1);
    },
  };
}
