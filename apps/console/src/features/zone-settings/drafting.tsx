import { changesBetween } from '@edgeloom/contract/zone-settings/changes.ts';
import { zoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import { ConfigDraft } from '@edgeloom/contract/zone-settings/zone-settings.ts';
import { Fragment, useState, type ReactNode } from 'react';
import { LeaveGuard } from '../../components/leave-guard/leave-guard.tsx';
import { SaveBar } from '../../components/save-bar/save-bar.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { useKeepDraft, useKeptDraft } from '../../lib/drafts.ts';
import { time } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import { applied, draftOf, sentOf, type Draft, type Patch, type Settings } from './draft.ts';
import { changeText } from './in-words.ts';
import { Review } from './review.tsx';
import classes from './zone-settings.module.css';

interface DraftingProps {
  zoneId: string;
  settings: Settings;
  /** The fields, for the settings with the draft applied. */
  children: (value: Settings, set: (patch: Patch) => void) => ReactNode;
}

interface Kept {
  draft: Draft;
  since: number;
}
const isKept = (kept: unknown): kept is Kept => typeof kept === 'object' && kept !== null && 'since' in kept;

/** Zone settings are published only after a review, to which the bar leads. */
export function Drafting({ zoneId, settings, children }: DraftingProps) {
  const t = useT();
  const draftKey = `zoneSettings.set ${zoneId}`;
  const kept = useKeptDraft(draftKey, isKept);
  const [draft, setDraft] = useState(kept?.draft ?? draftOf(settings, settings));
  const [isRestored, setRestored] = useState(kept !== null);
  const [isReviewed, setReviewed] = useState(false);
  const [begun, setBegun] = useState(0);
  const [stands, setStands] = useState(kept?.since ?? settings.version);
  const value = applied(settings, draft);
  const changes = changesBetween(settings, value).map((change) => changeText(t, change));
  const isDirty = changes.length > 0;
  useKeepDraft(draftKey, () => (isDirty ? { draft, since: stands } : undefined));
  // Uncontrolled fields reload newer settings while nothing is edited.
  if (stands !== settings.version && !isDirty) setStands(settings.version);

  const body = sentOf(settings, draft);
  const isSound = ConfigDraft.safeParse(body).success;
  const review = () => {
    // With the keyboard shortcut the field was not blurred yet, which applies its limits.
    if (document.activeElement instanceof HTMLInputElement) document.activeElement.blur();
    if (isSound) setReviewed(true);
    // Invalid input is not reviewed; focus the first invalid field.
    else document.querySelector<HTMLElement>('main [aria-invalid="true"]')?.focus();
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
            onDiscard={discard}
          />
        </>
      )}
      <LeaveGuard when={isDirty} />
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
