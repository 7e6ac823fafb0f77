import { changesBetween } from '@edgeloom/contract/zone-settings/changes.ts';
import { zoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import { ConfigDraft } from '@edgeloom/contract/zone-settings/zone-settings.ts';
import { Fragment, useCallback, useEffect, useState, type ReactNode } from 'react';
import { useLocation, useNavigate } from 'react-router-dom';
import { ErrorSummary, focusField, invalidFields } from '../../components/resource-form/error-summary.tsx';
import { LeaveGuard } from '../../components/leave-guard/leave-guard.tsx';
import { SaveBar } from '../../components/save-bar/save-bar.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { useKeepDraft, useStoredDraft } from '../../lib/drafts.ts';
import { time } from '../../lib/format.ts';
import { tMaybe, useT, type T } from '../../lib/i18n.ts';
import { issuesOf } from '../../lib/schema.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import { applied, draftOf, sentOf, type Draft, type Patch, type Settings } from './draft.ts';
import { changeText, fieldName } from './in-words.ts';
import { Review } from './review.tsx';
import classes from './zone-settings.module.css';

interface DraftingProps {
  zoneId: string;
  settings: Settings;
  /** The fields, for the settings with the draft applied. */
  children: (value: Settings, set: (patch: Patch) => void) => ReactNode;
}

interface StoredDraft {
  draft: Draft;
  since: number;
}
/** The open draft. It remains while the reader switches between settings tabs of the zone. */
let open: (StoredDraft & { draftKey: string }) | null = null;
/** The field to focus once its tab is rendered. */
let toFocus: string | null = null;
const focusLater = (name: string) => {
  toFocus = name;
};

/** The tab of each part that a draft may change. */
const tabs: Readonly<Record<string, string>> = {
  nginx: 'nginx',
  resource: 'resources',
  http2: 'https',
  http3: 'https',
  soakSeconds: 'https',
  forceSSLRedirectCode: 'https',
  firewall: 'firewall',
  ipset: 'ipset',
  antiCC: 'anticc',
};
const isSettingsTab = ({ search }: Pick<Location, 'search'>) =>
  Object.values(tabs).includes(new URLSearchParams(search).get('tab') ?? '');

const focusNamed = (name: string) => {
  const invalid = invalidFields(document.querySelector('main'));
  const field = invalid.find((one) => one.getAttribute('name') === name) ?? invalid[0];
  if (field) focusField(field);
};

/** `Firewall: Block list`. */
const titleOf = (t: T, path: string) => {
  const [part = ''] = path.split('.');
  const tab = part === 'antiCC' ? part : (tabs[part] ?? '');
  return `${tMaybe(`zones.tabs.${tab}`) ?? ''}${t('common.colon')}${fieldName(t, path)}`;
};

const isStoredDraft = (kept: unknown): kept is StoredDraft =>
  typeof kept === 'object' && kept !== null && 'since' in kept;

/** Edits zone settings as a draft, which is published only after a review. The bar opens the review. */
export function Drafting({ zoneId, settings, children }: DraftingProps) {
  const t = useT();
  const draftKey = `zoneSettings.set ${zoneId}`;
  const stored = useStoredDraft(draftKey, isStoredDraft);
  const [brought] = useState(() => (open?.draftKey === draftKey ? open : null));
  const [draft, setDraft] = useState(brought?.draft ?? stored?.draft ?? draftOf(settings, settings));
  const [isRestored, setRestored] = useState(stored !== null);
  const [isReviewed, setReviewed] = useState(false);
  const [begun, setBegun] = useState(0);
  const [stands, setStands] = useState(brought?.since ?? stored?.since ?? settings.version);
  const value = applied(settings, draft);
  const changes = changesBetween(settings, value).map((change) => changeText(t, change));
  const isDirty = changes.length > 0;
  useKeepDraft(draftKey, () => (isDirty ? { draft, since: stands } : undefined));
  // Uncontrolled fields reload newer settings while nothing is edited.
  if (stands !== settings.version && !isDirty) setStands(settings.version);

  const { pathname, search } = useLocation();
  const keeps = useCallback(
    (next: Pick<Location, 'pathname' | 'search'>) => next.pathname === pathname && isSettingsTab(next),
    [pathname],
  );
  useEffect(() => {
    open = isDirty ? { draftKey, draft, since: stands } : null;
  });
  useEffect(() => {
    if (toFocus !== null) focusNamed(toFocus);
    toFocus = null;
    return () => {
      if (!keeps(window.location)) open = null;
    };
  }, [keeps]);

  const body = sentOf(settings, draft);
  const issues = issuesOf(ConfigDraft, body);
  const isSound = issues.length === 0;
  const [isRefused, setRefused] = useState(false);
  const wrong = [...new Set(issues.map(({ path }) => path.split('.').slice(0, 2).join('.')))];
  const navigate = useNavigate();
  const goTo = (path: string) => {
    const [part = '', name = part] = path.split('.');
    const tab = tabs[part] ?? '';
    if (new URLSearchParams(search).get('tab') === tab) return focusNamed(name);
    focusLater(name);
    void navigate(`?tab=${tab}`);
  };
  const review = () => {
    // The keyboard shortcut does not blur the field, and blur applies the field's limits.
    if (document.activeElement instanceof HTMLInputElement) document.activeElement.blur();
    if (isSound) return setReviewed(true);
    // Invalid input does not reach the review; the first invalid field gets focus.
    setRefused(true);
    const [first] = invalidFields(document.querySelector('main'));
    if (first) focusField(first);
  };
  const discard = () => {
    setDraft(draftOf(settings, settings));
    setReviewed(false);
    setRestored(false);
    setBegun(begun + 1);
    // The buttons disappear with the draft.
    document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
  };
  return (
    <>
      {isReviewed && isSound ? (
        <DraftReview
          zoneId={zoneId}
          settings={settings}
          since={stands}
          body={body}
          onBack={() => {
            setReviewed(false);
            requestAnimationFrame(() => document.querySelector<HTMLElement>('[data-save]')?.focus());
          }}
          onDone={discard}
        />
      ) : (
        <>
          <Meanwhile since={stands} settings={settings} />
          <Fragment key={`${begun} ${stands}`}>
            {children(value, (patch) => setDraft(draftOf(settings, { ...value, ...patch })))}
          </Fragment>
          <SaveBar
            changes={changes}
            isRestored={isRestored}
            saveLabel="zoneSettings.review"
            onSave={review}
            errors={
              isRefused &&
              !isSound && (
                <ErrorSummary
                  count={issues.length}
                  hidden={[]}
                  onShow={() => goTo(wrong[0] ?? '')}
                  fields={wrong.map((path) => ({ text: titleOf(t, path), open: () => goTo(path) }))}
                />
              )
            }
            onDiscard={discard}
          />
        </>
      )}
      <LeaveGuard when={isDirty} keeps={keeps} />
    </>
  );
}

interface DraftReviewProps extends Pick<DraftingProps, 'zoneId' | 'settings'> {
  since: number;
  body: ReturnType<typeof sentOf>;
  onBack: () => void;
  onDone: () => void;
}

function DraftReview({ zoneId, settings, since, body, onBack, onDone }: DraftReviewProps) {
  const { run, running } = useAction(zoneSettings.set, { refreshes: ['zones'], done: 'zoneSettings.published' });
  const params = { zoneId };
  // No preview while publishing.
  const seen = useEndpoint(zoneSettings.preview, { params, body }, { enabled: !running });
  return (
    <>
      {!running && <Meanwhile since={since} settings={settings} />}
      <Review
        seen={seen}
        settings={settings}
        running={running}
        onPublish={(reason) => void run({ params, body: { ...body, reason } }).then((reply) => reply && onDone())}
        onBack={onBack}
      />
    </>
  );
}

/** Warns of a concurrent change, because the later save wins. */
function Meanwhile({ since, settings: { version, author, changedAt } }: { since: number; settings: Settings }) {
  const t = useT();
  // After a rollback the current version is an older one, and the first version has no author.
  const isNewer = version > since && author !== '';
  return (
    <output className={classes['meanwhile']}>
      {isNewer && changedAt !== null && (
        <>
          <StatusMark tone="warn" />
          <span>{t('zoneSettings.meanwhile', { name: author, version, time: time(changedAt) })}</span>
        </>
      )}
    </output>
  );
}
