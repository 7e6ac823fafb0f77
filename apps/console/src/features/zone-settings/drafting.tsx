import { zoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import { ConfigDraft } from '@edgeloom/contract/zone-settings/zone-settings.ts';
import { Fragment, useEffect, useState, type ReactNode } from 'react';
import { useLocation, useNavigate } from 'react-router-dom';
import { ErrorSummary, focusField, invalidFields } from '../../components/resource-form/error-summary.tsx';
import { LeaveGuard } from '../../components/leave-guard/leave-guard.tsx';
import { SaveBar } from '../../components/save-bar/save-bar.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { time } from '../../lib/format.ts';
import { tMaybe, useT, type T } from '../../lib/i18n.ts';
import { issuesOf } from '../../lib/schema.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import type { Patch, sentOf, Settings } from './draft.ts';
import { changeText, fieldName } from './in-words.ts';
import { Review } from './review.tsx';
import { settingsTabs, useSettingsDraft } from './use-settings-draft.ts';
import classes from './zone-settings.module.css';

interface DraftingProps {
  zoneId: string;
  settings: Settings;
  /** The fields, for the settings with the draft applied. */
  children: (value: Settings, set: (patch: Patch) => void) => ReactNode;
}

/** The field to focus once its tab is rendered. */
let toFocus: string | null = null;
const focusLater = (name: string) => {
  toFocus = name;
};

const focusNamed = (name: string) => {
  const invalid = invalidFields(document.querySelector('main'));
  const field = invalid.find((one) => one.getAttribute('name') === name) ?? invalid[0];
  if (field) focusField(field);
};

/** `Firewall: Block list`. */
const titleOf = (t: T, path: string) => {
  const [part = ''] = path.split('.');
  const tab = part === 'antiCC' ? part : (settingsTabs[part] ?? '');
  return `${tMaybe(`zones.tabs.${tab}`) ?? ''}${t('common.colon')}${fieldName(t, path)}`;
};

/** Edits zone settings as a draft, which is published only after a review. The bar opens the review. */
export function Drafting({ zoneId, settings, children }: DraftingProps) {
  const draft = useSettingsDraft(zoneId, settings);
  const { value, isDirty, changes, body, since, edition, set, keeps } = draft;
  const t = useT();
  const [isReviewed, setReviewed] = useState(false);
  const [isRefused, setRefused] = useState(false);
  useEffect(() => {
    if (toFocus !== null) focusNamed(toFocus);
    toFocus = null;
  }, []);
  const issues = issuesOf(ConfigDraft, body);
  const isValid = issues.length === 0;

  const review = () => {
    // The keyboard shortcut does not blur the field, and blur applies the field's limits.
    if (document.activeElement instanceof HTMLInputElement) document.activeElement.blur();
    if (isValid) return setReviewed(true);
    // Invalid input does not reach the review; the first invalid field gets focus.
    setRefused(true);
    const [first] = invalidFields(document.querySelector('main'));
    if (first) focusField(first);
  };
  const discard = () => {
    draft.discard();
    setReviewed(false);
    // The buttons disappear with the draft.
    document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
  };
  const closeReview = () => {
    setReviewed(false);
    requestAnimationFrame(() => document.querySelector<HTMLElement>('[data-save]')?.focus());
  };
  return (
    <>
      {isReviewed && isValid ? (
        <DraftReview
          zoneId={zoneId}
          settings={settings}
          since={since}
          body={body}
          onBack={closeReview}
          onDone={discard}
        />
      ) : (
        <>
          <Meanwhile since={since} settings={settings} />
          <Fragment key={edition}>{children(value, set)}</Fragment>
          <SaveBar
            changes={changes.map((change) => changeText(t, change))}
            isRestored={draft.isRestored}
            saveLabel="zoneSettings.review"
            onSave={review}
            errors={isRefused && !isValid && <SettingsErrors paths={issues.map(({ path }) => path)} />}
            onDiscard={discard}
          />
        </>
      )}
      <LeaveGuard when={isDirty} keeps={keeps} />
    </>
  );
}

/** Links to the invalid settings, which may be in another tab. */
function SettingsErrors({ paths }: { paths: readonly string[] }) {
  const t = useT();
  const navigate = useNavigate();
  const { search } = useLocation();
  const settingPaths = [...new Set(paths.map((path) => path.split('.').slice(0, 2).join('.')))];
  const open = (path: string) => {
    const [part = '', name = part] = path.split('.');
    const tab = settingsTabs[part] ?? '';
    if (new URLSearchParams(search).get('tab') === tab) return focusNamed(name);
    focusLater(name);
    void navigate(`?tab=${tab}`);
  };
  return (
    <ErrorSummary
      count={paths.length}
      hidden={[]}
      onShow={() => open(settingPaths[0] ?? '')}
      fields={settingPaths.map((path) => ({ text: titleOf(t, path), open: () => open(path) }))}
    />
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
