import { ApiError } from '@edgeloom/contract/client.ts';
import { snippetFaults, snippetParts, type SnippetPart } from '@edgeloom/contract/zone-settings/directive-allowlist.ts';
import { nginxDefaults } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import { SnippetFault, type SnippetFaultAt } from '@edgeloom/contract/zone-settings/zone-settings.ts';
import { Button } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import * as z from 'zod';
import { CodeDiff } from '../../components/code-editor/code-diff.tsx';
import { LeaveGuard } from '../../components/leave-guard/leave-guard.tsx';
import { Page } from '../../components/page/page.tsx';
import { SaveBar } from '../../components/save-bar/save-bar.tsx';
import { Await } from '../../components/states/await.tsx';
import { useKeepDraft, useStoredDraft } from '../../lib/drafts.ts';
import { toastError } from '../../lib/errors.ts';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import { toast } from '../../stores/toasts.ts';
import { FaultLines } from './fault-lines.tsx';
import { linesText } from './in-words.ts';
import { PartChoice, SnippetEditor } from './snippet-editor.tsx';
import classes from './zone-settings.module.css';

interface Draft {
  part: SnippetPart;
  before: string;
  after: string;
}

const draftKey = 'nginxDefaults';
const isDrafts = (stored: unknown): stored is Draft[] =>
  Array.isArray(stored) && stored.every((one) => typeof one === 'object' && one !== null && 'after' in one);

/** Default nginx snippets of new zones. Existing zones keep theirs. */
export function NginxDefaultsPage() {
  const t = useT();
  const can = useCan();
  const [part, setPart] = useState<SnippetPart>('http');
  const restored = useStoredDraft(draftKey, isDrafts);
  const [drafts, setDrafts] = useState<readonly Draft[]>(restored ?? []);
  const [isRestored, setRestored] = useState(restored !== null);
  useKeepDraft(draftKey, () => (drafts.length > 0 ? drafts : undefined));
  const [isReviewed, setReviewed] = useState(false);
  const [begun, setBegun] = useState(0);
  const saved = useEndpoint(nginxDefaults.get, { params: { part } });
  const write = (draft: Draft) =>
    setDrafts((others) => [
      ...others.filter((one) => one.part !== draft.part),
      ...(draft.after === draft.before ? [] : [draft]),
    ]);
  const forget = () => {
    setDrafts([]);
    setRestored(false);
    setReviewed(false);
    setBegun(begun + 1);
    // The button disappears with the bar.
    document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
  };
  return (
    <Page title="zoneSettings.defaults">
      {isReviewed ? (
        <Review
          drafts={drafts}
          onSaved={(saved) => setDrafts((all) => all.filter((one) => one.part !== saved))}
          onBack={() => {
            setReviewed(false);
            requestAnimationFrame(() => document.querySelector<HTMLElement>('[data-save]')?.focus());
          }}
          onDone={forget}
        />
      ) : (
        <>
          <div className={classes['nginx']}>
            <p className={classes['quiet']}>{t('zoneSettings.defaultsWhy')}</p>
            <div className={classes['tools']}>
              <PartChoice part={part} onChange={setPart} />
            </div>
            <Await result={saved}>
              {({ part: of, content }) => (
                <SnippetEditor
                  key={`${of} ${begun} ${content}`}
                  part={of}
                  value={drafts.find((one) => one.part === of)?.after ?? content}
                  readOnly={!can(nginxDefaults.set)}
                  onChange={(after) => write({ part: of, before: content, after })}
                />
              )}
            </Await>
          </div>
          <SaveBar
            changes={drafts.map(
              ({ part: of, before, after }) =>
                `${t(`zoneSettings.fields.${of}`)} ${linesText(t, { field: of, before, after }) ?? ''}`,
            )}
            isRestored={isRestored}
            saveLabel="zoneSettings.review"
            onSave={() => setReviewed(true)}
            onDiscard={forget}
          />
        </>
      )}
      <LeaveGuard when={drafts.length > 0} />
    </Page>
  );
}

interface ReviewProps {
  drafts: readonly Draft[];
  onSaved: (part: SnippetPart) => void;
  onBack: () => void;
  onDone: () => void;
}

const Refused = z.object({ faults: z.array(SnippetFault) });

/** The diff, and validation by the allowlist and by nginx. */
function Review({ drafts, onSaved, onBack, onDone }: ReviewProps) {
  const t = useT();
  const section = useRef<HTMLElement>(null);
  const { run, running } = useAction(nginxDefaults.set, { quiet: true });
  const [refused, setRefused] = useState<readonly SnippetFaultAt[]>([]);
  useEffect(() => section.current?.focus(), []);
  const ordered = snippetParts.flatMap((part) => drafts.find((one) => one.part === part) ?? []);
  const faults = ordered.flatMap(({ part, after }) => snippetFaults(part, after).map((fault) => ({ part, ...fault })));
  const wrong = [...faults, ...refused];
  const save = async () => {
    setRefused([]);
    try {
      for (const { part, after } of ordered) {
        await run({ params: { part }, body: { content: after } });
        onSaved(part);
      }
      toast({ text: t('common.saved') });
      onDone();
    } catch (error) {
      const found = error instanceof ApiError ? Refused.safeParse(error.envelope.extra).data : undefined;
      if (found) setRefused(found.faults);
      else toastError(error);
    }
  };
  return (
    <section ref={section} className={classes['review']} aria-label={t('zoneSettings.reviewTitle')} tabIndex={-1}>
      <div className={classes['differences']}>
        {wrong.length > 0 && (
          <ul className={classes['checks']} role="alert">
            <FaultLines faults={wrong} />
          </ul>
        )}
        {ordered.map(({ part, before, after }) => {
          const name = t(`zoneSettings.fields.${part}`);
          return (
            <section key={part}>
              <h2 className={classes['file']}>{name}</h2>
              <CodeDiff
                before={before}
                after={after}
                labels={[t('zoneSettings.before', { name }), t('zoneSettings.after', { name })]}
              />
            </section>
          );
        })}
      </div>
      <form
        className={classes['publish']}
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <p className={classes['quiet']}>{t('zoneSettings.defaultsAsked')}</p>
        <Button variant="default" onClick={onBack}>
          {t('zoneSettings.keepEditing')}
        </Button>
        <Button type="submit" loading={running} disabled={faults.length > 0}>
          {t('common.save')}
        </Button>
      </form>
    </section>
  );
}
