import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { Button } from '@mantine/core';
import { useState } from 'react';
import { LinesField } from '../../components/fields/lines-field.tsx';
import { SelectMetaField } from '../../components/fields/select-meta-field.tsx';
import { TagsField } from '../../components/fields/tags-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { newOrigin, templateFaults, upstreamsOf, type Origin } from '../../components/origins/origins.ts';
import { OriginsTable } from '../../components/origins/origins-table.tsx';
import { useInsideOverlay } from '../../components/overlay/overlay.tsx';
import { PreviewButton } from '../../components/preview/preview-button.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { fieldErrorsOf, ruleText, toastError } from '../../lib/errors.ts';
import { useT } from '../../lib/i18n.ts';
import { useAction } from '../../lib/use-endpoint.ts';
import { toast } from '../../stores/toasts.ts';
import classes from './domains.module.css';
import { isGood, judgeName, verdictWord } from './names.ts';
import type { Domain } from './origins-draft.ts';

interface Many {
  siteId: string;
  ids: readonly string[];
}

/** In place of the tags that they have; where all have the same, these are where it begins. */
export function TagsForm({ siteId, rows, tags }: { siteId: string; rows: readonly Domain[]; tags: readonly string[] }) {
  const [first] = rows;
  const alike = rows.every((row) => row.tags.join('\n') === first?.tags.join('\n'));
  return (
    <ResourceForm
      preview
      create={domains.setTags}
      params={{ siteId }}
      initial={{ ids: rows.map(({ id }) => id), tags: alike ? (first?.tags ?? []) : [] }}
      submitLabel="common.save"
      done="common.saved"
    >
      <TagsField name="tags" suggestions={tags} />
    </ResourceForm>
  );
}

/** One address for another in the chosen domains; without rows, wherever it stands in the site. */
export function SwapForm({ siteId, rows }: { siteId: string; rows?: readonly Domain[] }) {
  const from = rows?.[0]?.upstreams[0]?.address;
  return (
    <ResourceForm
      preview
      create={domains.swapAddress}
      params={{ siteId }}
      initial={{ ...(rows && { ids: rows.map(({ id }) => id) }), ...(from !== undefined && { from }) }}
      submitLabel="domains.bulk.swapSubmit"
      done="common.saved"
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

/** New names that are in all like one that is there. */
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
      <LinesField
        name="names"
        judge={(line) => {
          const verdict = judgeName(line);
          return isGood(verdict) ? null : t(verdictWord[verdict]);
        }}
      />
    </ResourceForm>
  );
}

/** The same origins for all of them. */
export function ManyOriginsForm({ siteId, ids }: Many) {
  const t = useT();
  const overlay = useInsideOverlay();
  const [origins, setOrigins] = useState<Origin[]>(() => [newOrigin(80)]);
  const [tried, setTried] = useState(false);
  const [refused, setRefused] = useState<ReadonlyMap<string, string>>(new Map());
  const { run, running } = useAction(domains.setUpstreams, { quiet: true });
  const noneOn = !origins.some(({ enabled }) => enabled);
  const { isGood: isComplete, fault } = templateFaults(origins, refused, tried);
  const plan = () => {
    setTried(true);
    const body = { ids: [...ids], upstreams: upstreamsOf(origins) };
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
      toast({ text: t('common.saved') });
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
      <p className={classes['lead']}>{t('domains.bulk.originsWhy', { count: ids.length })}</p>
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
          saveText={t('domains.bulk.originsSubmit', { count: ids.length })}
          onSave={() => void submit()}
        />
        <Button type="submit" loading={running}>
          {t('domains.bulk.originsSubmit', { count: ids.length })}
        </Button>
      </div>
    </form>
  );
}
