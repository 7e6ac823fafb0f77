import { cacheSetting } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { Stack, Text } from '@mantine/core';
import { ChoiceField } from '../../components/fields/choice-field.tsx';
import { LinesField } from '../../components/fields/lines-field.tsx';
import { NumberField } from '../../components/fields/number-field.tsx';
import { SwitchField } from '../../components/fields/switch-field.tsx';
import { Section } from '../../components/page/section.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { Await } from '../../components/states/await.tsx';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';

/** Defaults where no rule applies. */
export function SettingsTab({ siteId }: { siteId: string }) {
  const t = useT();
  const params = { siteId };
  return (
    <Await result={useEndpoint(cacheSetting.get, { params })}>
      {(value) => (
        <ResourceForm update={cacheSetting.update} params={params} value={value} words="cache" bar preview>
          <Section title="cache.setting.failing" why="cache.setting.failingWhy">
            <NumberField name="staleIfError" />
          </Section>
          <Section title="cache.setting.guess" why="cache.setting.guessWhy">
            <SwitchField name="heuristics" />
          </Section>
          <Section title="cache.setting.safety" why="cache.setting.safetyWhy">
            <Stack gap={16}>
              <SwitchField name="checkContentType" />
              <LinesField name="passHeaders" rows={2} placeholder="x-forwarded-host" />
            </Stack>
          </Section>
          <Section title="cache.setting.rfc" why="cache.setting.rfcWhy">
            <Stack gap={16}>
              <ChoiceField name="setCookie" />
              <SwitchField name="honourVisitors" />
              <SwitchField name="storePost" />
            </Stack>
          </Section>
          <Section title="cache.setting.shield" why="cache.setting.shieldWhy">
            <Stack gap={8}>
              <SwitchField name="shield" />
              {!value.hasRelay && (
                <Text c="dimmed" fz={13}>
                  {t('cache.setting.noRelay')}
                </Text>
              )}
            </Stack>
          </Section>
        </ResourceForm>
      )}
    </Await>
  );
}
