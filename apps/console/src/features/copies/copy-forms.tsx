import { CopiedSetting } from '@edgeloom/contract/copies/copies.ts';
import { copies } from '@edgeloom/contract/copies/copies.endpoints.ts';
import type { ModuleKind } from '@edgeloom/contract/modules/modules.ts';
import { sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { Text } from '@mantine/core';
import { ManyField, ManyMetaField } from '../../components/fields/many-field.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { tMaybe, useT } from '../../lib/i18n.ts';

/** Copies selected settings to other sites. */
export function CopySettingsForm({ siteId }: { siteId: string }) {
  const t = useT();
  return (
    <ResourceForm
      create={copies.settings}
      params={{ siteId }}
      initial={{ settings: [], siteIDs: [] }}
      submitLabel="copies.submit"
      done="copies.done"
    >
      <Note text={t('copies.settingsNote')} />
      <CopiedSettingsField />
      <OtherSites siteId={siteId} />
    </ResourceForm>
  );
}

/** The parts of a site that can be copied. */
export function CopiedSettingsField() {
  useT();
  const data = CopiedSetting.options.map((value) => ({
    value,
    label: tMaybe(`copies.choices.settings.${value}`) ?? tMaybe(`${value}.title`) ?? value,
  }));
  return <ManyField name="settings" data={data} />;
}

interface CopyModule {
  siteId: string;
  kind: ModuleKind;
  id: string;
}

export function CopyModuleForm({ siteId, kind, id }: CopyModule) {
  const t = useT();
  return (
    <ResourceForm
      create={copies.modules}
      params={{ siteId, kind }}
      initial={{ ids: [id], siteIDs: [] }}
      submitLabel="copies.submit"
      done="copies.done"
    >
      <Note text={t('copies.moduleNote')} />
      <OtherSites siteId={siteId} />
    </ResourceForm>
  );
}

const OtherSites = ({ siteId }: { siteId: string }) => (
  <ManyMetaField name="siteIDs" meta={sites.meta} except={siteId} />
);

const Note = ({ text }: { text: string }) => (
  <Text c="dimmed" fz={13}>
    {text}
  </Text>
);
