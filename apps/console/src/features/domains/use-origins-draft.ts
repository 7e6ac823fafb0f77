// The draft of the origins tab: the unsaved input of a domain's origins, and the calls that save it.
import { domains, domainUpstreams } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { useState } from 'react';
import { useKeepDraft, useStoredDraft } from '../../lib/drafts.ts';
import { ruleText, toastError } from '../../lib/errors.ts';
import { useT } from '../../lib/i18n.ts';
import { make, type Planned } from '../../lib/planned.ts';
import { refresh } from '../../lib/queries.ts';
import type { Issue } from '../../lib/schema.ts';
import { toast } from '../../stores/toasts.ts';
import { changesOf, draftOf, faultsOf, planOf, type Domain, type Draft, type Plan } from './origins-draft.ts';

export type OriginsDraft = ReturnType<typeof useOriginsDraft>;

export function useOriginsDraft(domain: Domain) {
  const t = useT();
  const live = draftOf(domain);
  const draftKey = `origins ${domain.id}`;
  const restored = useStoredDraft(draftKey, isDraft);
  const [isRestored, setRestored] = useState(restored !== null);
  const [edited, setEdited] = useState(restored);
  useKeepDraft(draftKey, () => edited ?? undefined);
  const [tried, setTried] = useState(false);
  const { save: sendAll, saving } = useSaveOrigins(domain, live);
  const draft = edited ?? live;
  const faults = faultsOf(draft);

  const isValid = () => {
    setTried(true);
    if (Object.keys(faults).length === 0) return true;
    focusFirstFault();
    return false;
  };
  const discard = () => {
    setEdited(null);
    setTried(false);
    setRestored(false);
  };
  const save = async () => {
    if (!isValid() || !(await sendAll(draft, setEdited))) return;
    discard();
    toast({ text: t('domains.changes.saved') });
  };
  return {
    draft,
    live,
    set: (part: Partial<Draft>) => setEdited({ ...draft, ...part }),
    changes: changesOf(live, draft, t),
    tried,
    /** The text of an error, which is shown at once. */
    errorAt: (path: string) => errorText(faults[path]),
    /** The text of an error, which an untouched field shows once saving was tried. */
    errorOnceTouched: (path: string) =>
      tried || touchedFields(live, draft).includes(path) ? errorText(faults[path]) : undefined,
    plan: () => (isValid() ? callsFor(domain, planOf(live, draft)) : null),
    save,
    saving,
    isRestored,
    discard,
  };
}

const errorText = (issue: Issue | undefined) => (issue ? ruleText(issue.rule, issue.message, issue.values) : undefined);

const isDraft = (stored: unknown): stored is Draft =>
  typeof stored === 'object' &&
  stored !== null &&
  'origins' in stored &&
  'portMap' in stored &&
  'healthCheck' in stored &&
  'websocketTimeoutSeconds' in stored;

const touchedFields = (live: Draft, draft: Draft): string[] =>
  (['hostReplace', 'sni'] as const).filter((field) => live[field] !== draft[field]);

const focusFirstFault = () =>
  requestAnimationFrame(() => document.querySelector<HTMLElement>('main [aria-invalid="true"]')?.focus());

/** Calls in order: new origins first, since the last enabled one may be removed. */
function callsFor(domain: Domain, { create, change, remove, update, https }: Plan): Planned[] {
  const params = { siteId: domain.siteID, domainId: domain.id };
  const calls: (Planned | false)[] = [
    create.length > 0 && { endpoint: domainUpstreams.create, params, body: { upstreams: create } },
    change.length > 0 && { endpoint: domainUpstreams.update, params, body: { upstreams: change } },
    remove.length > 0 && { endpoint: domainUpstreams.remove, params, body: { ids: remove } },
    update !== null && { endpoint: domains.update, params, body: update },
    https !== null && { endpoint: domains.https, params, body: https },
  ];
  return calls.filter((one) => one !== false);
}

/** Completed calls are kept on an error, so that saving again does the rest. */
function useSaveOrigins(domain: Domain, live: Draft) {
  const [saving, setSaving] = useState(false);
  const save = async (draft: Draft, setDraft: (draft: Draft) => void): Promise<boolean> => {
    setSaving(true);
    try {
      for (const one of callsFor(domain, planOf(live, draft))) {
        const reply = await make(one);
        await refresh(['domains', 'sites']);
        if (one.endpoint === domainUpstreams.create) setDraft(withIDs(draft, reply));
      }
      return true;
    } catch (error) {
      toastError(error);
      return false;
    } finally {
      setSaving(false);
    }
  };
  return { save, saving };
}

const withIDs = (draft: Draft, reply: unknown): Draft => {
  const saved = domainUpstreams.create.reply.safeParse(reply).data?.data ?? [];
  return { ...draft, origins: draft.origins.map((origin) => withID(origin, saved)) };
};

function withID(origin: Draft['origins'][number], saved: Domain['upstreams']) {
  const found =
    origin.id === null && saved.find(({ address, port }) => address === origin.address && port === origin.port);
  return found ? { ...origin, id: found.id, key: found.id } : origin;
}
