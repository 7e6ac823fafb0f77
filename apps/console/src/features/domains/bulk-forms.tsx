import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { Button } from '@mantine/core';
import { useState } from 'react';
import { LinesField } from '../../components/fields/lines-field.tsx';
import { SelectMetaField } from '../../components/fields/select-meta-field.tsx';
import { KnownTagsField } from '../../components/fields/tags-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { newOrigin, templateFaults, upstreamsOf, type Origin } from '../../components/origins/origins.ts';
import { OriginsTable } from '../../components/origins/origins-table.tsx';
import { useInsideOverlay } from '../../components/overlay/overlay.tsx';
import { PreviewButton } from '../../components/preview/preview-button.tsx';
import { backTo } from '../../components/resource-table/actions.tsx';
import { useReverse } from '../../components/resource-table/use-reverse.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { fieldErrorsOf, ruleText, toastError } from '../../lib/errors.ts';
import { useT } from '../../lib/i18n.ts';
import { useAction } from '../../lib/use-endpoint.ts';
import { toastWithUndo } from '../../stores/undo.ts';
import classes from './domains.module.css';
import { isGood, judgeName, verdictWord } from './names.ts';
import type { Domain } from './origins-draft.ts';

interface Many {
  siteId: string;
  ids: readonly string[];
}
type Upstreams = Domain['upstreams'];

/** Restores the current value of each domain. */
function useUndoDomains<Value>(
  rows: readonly Domain[],
  valueOf: (row: Domain) => Value,
  endpoint: typeof domains.setTags | typeof domains.setUpstreams,
  bodyOf: (ids: readonly string[], value: Value) => object,
) {
  const reverse = useReverse<Domain>();
  const params = { siteId: rows[0]?.siteID ?? '' };
  const steps = backTo(rows, valueOf, (ids, value) => ({ body: bodyOf(ids, value) }));
  return () => reverse(steps, { rows, nameOf: ({ name }) => name, params, endpoint, refreshes: [] });
}

const useUndoOrigins = (rows: readonly Domain[]) =>
  useUndoDomains(
    rows,
    ({ upstreams }) => withoutIDs(upstreams),
    domains.setUpstreams,
    (ids, upstreams) => ({
      ids,
      upstreams,
    }),
  );
const withoutIDs = (upstreams: Upstreams) => upstreams.map(({ id: _, ...upstream }) => upstream);

/** Replaces the tags. Starts with the tags that all rows share. */
export function TagsForm({ siteId, rows }: { siteId: string; rows: readonly Domain[] }) {
  const [first] = rows;
  const undo = useUndoDomains(
    rows,
    (row) => row.tags,
    domains.setTags,
    (ids, tags) => ({ ids, tags }),
  );
  const alike = rows.every((row) => row.tags.join('\n') === first?.tags.join('\n'));
  return (
    <ResourceForm
      preview
      create={domains.setTags}
      params={{ siteId }}
      initial={{ ids: rows.map(({ id }) => id), tags: alike ? (first?.tags ?? []) : [] }}
      submitLabel="common.save"
      done="common.saved"
      undo={undo}
    >
      <KnownTagsField name="tags" meta={domains.tags} params={{ siteId }} />
    </ResourceForm>
  );
}

/** Replaces an origin address in the selected domains, or in the whole site without rows. */
export function SwapForm({ siteId, rows }: { siteId: string; rows?: readonly Domain[] }) {
  const undo = useUndoOrigins(rows ?? []);
  const from = rows?.[0]?.upstreams[0]?.address;
  return (
    <ResourceForm
      preview
      create={domains.swapAddress}
      params={{ siteId }}
      initial={{ ...(rows && { ids: rows.map(({ id }) => id) }), ...(from !== undefined && { from }) }}
      submitLabel="domains.bulk.swapSubmit"
      done="common.saved"
      {...(rows && { undo })}
    >
      <TextField name="from" />
      <TextField name="to" />
    </ResourceForm>
  );
}

export function CopyForm({ siteId, ids }: Many) {
  return (
    <ResourceForm
      create={domains.copyToSite}
      params={{ siteId }}
      initial={{ ids }}
      refreshes={['sites']}
      submitLabel="domains.bulk.copySubmit"
      done="domains.bulk.copied"
    >
      <SelectMetaField name="targetSiteID" meta={sites.meta} />
    </ResourceForm>
  );
}

/** Creates domains with the settings of an existing one. */
export function CloneForm({ domain }: { domain: Domain }) {
  const t = useT();
  return (
    <ResourceForm
      preview
      create={domains.createFrom}
      params={{ siteId: domain.siteID }}
      initial={{ sourceDomainID: domain.id, names: [] }}
      refreshes={['sites']}
    >
      <LinesField name="names" judge={(line) => (isGood(judgeName(line)) ? null : t(verdictWord[judgeName(line)]))} />
    </ResourceForm>
  );
}

/** Sets the same origins for all rows. */
export function ManyOriginsForm({ siteId, rows }: { siteId: string; rows: readonly Domain[] }) {
  const t = useT();
  const overlay = useInsideOverlay();
  const [origins, setOrigins] = useState<Origin[]>(() => [newOrigin(80)]);
  const [tried, setTried] = useState(false);
  const [refused, setRefused] = useState<ReadonlyMap<string, string>>(new Map());
  const { run, running } = useAction(domains.setUpstreams, { quiet: true });
  const undo = useUndoOrigins(rows);
  const noneOn = !origins.some(({ enabled }) => enabled);
  const { isGood: isComplete, fault } = templateFaults(origins, refused, tried);
  const plan = () => {
    setTried(true);
    const body = { ids: rows.map(({ id }) => id), upstreams: upstreamsOf(origins) };
    return isComplete ? { endpoint: domains.setUpstreams, params: { siteId }, body } : null;
  };
  const refuse = (error: unknown) => {
    const placed = fieldErrorsOf(error);
    setRefused(new Map(placed.map(({ path, rule, message }) => [path, ruleText(rule, message)])));
    if (placed.length === 0) toastError(error);
  };
  const submit = async () => {
    const planned = plan();
    if (!planned) return;
    try {
      await run(planned);
      toastWithUndo(t('common.saved'), undo);
      overlay?.setDirty(false);
      overlay?.close();
    } catch (error) {
      refuse(error);
    }
  };
  return (
    <form
      noValidate
      className={classes['manyOrigins']}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <p className={classes['lead']}>{t('domains.bulk.originsWhy', { count: rows.length })}</p>
      <OriginsTable
        origins={origins}
        usualPort={80}
        locked={false}
        onChange={(next) => {
          setOrigins(next);
          setRefused(new Map());
          overlay?.setDirty(true);
        }}
        fault={fault}
        {...(noneOn && { noneOn: t('origins.noneOn') })}
      />
      <div className={classes['addButtons']}>
        {overlay && (
          <Button variant="default" onClick={overlay.close}>
            {t('common.cancel')}
          </Button>
        )}
        <PreviewButton
          preview={{ plan: () => [plan()].filter((planned) => planned !== null), onRefused: refuse }}
          saveText={t('domains.bulk.originsSubmit', { count: rows.length })}
          onSave={() => void submit()}
        />
        <Button type="submit" loading={running}>
          {t('domains.bulk.originsSubmit', { count: rows.length })}
        </Button>
      </div>
    </form>
  );
}
