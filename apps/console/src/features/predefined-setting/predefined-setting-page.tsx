import { predefinedSetting } from '@edgeloom/contract/predefined-setting/predefined-setting.endpoints.ts';
import { sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { SelectMetaField } from '../../components/fields/select-meta-field.tsx';
import { Page } from '../../components/page/page.tsx';
import { Section } from '../../components/page/section.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { Await } from '../../components/states/await.tsx';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { CopiedSettingsField } from '../copies/copy-forms.tsx';

/** The settings that new sites begin with. */
export function PredefinedSettingPage() {
  return (
    <Page title="predefinedSetting.title">
      <Await result={useEndpoint(predefinedSetting.get)}>
        {(value) => (
          <ResourceForm update={predefinedSetting.update} value={value}>
            <Section title="predefinedSetting.template" why="predefinedSetting.why">
              <SelectMetaField name="siteID" meta={sites.meta} nullable />
              <CopiedSettingsField />
            </Section>
          </ResourceForm>
        )}
      </Await>
    </Page>
  );
}
