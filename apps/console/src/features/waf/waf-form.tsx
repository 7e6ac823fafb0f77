import type { Received } from '@edgeloom/contract/endpoint.ts';
import { wafs } from '@edgeloom/contract/waf/waf.endpoints.ts';
import { wafCategories, WafInput } from '@edgeloom/contract/waf/waf.ts';
import { Input, SegmentedControl } from '@mantine/core';
import { ChoiceField } from '../../components/fields/choice-field.tsx';
import { ManyField } from '../../components/fields/many-field.tsx';
import { NumberField } from '../../components/fields/number-field.tsx';
import { useField } from '../../components/resource-form/form-state.ts';
import { percent } from '../../lib/format.ts';
import { useLanguage, useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { ExceptionsField } from './exceptions-field.tsx';
import { ModuleForm } from '../modules/module-form.tsx';

export type Waf = Received<typeof wafs.list>['data'][number];

export function WafForm({ siteId, value }: { siteId: string; value: Waf | undefined }) {
  const t = useT();
  const language = useLanguage();
  const { data } = useEndpoint(wafs.defaultRules, { query: {} }, { isConstant: true });
  const categories = wafCategories.map((category) => ({ value: category, label: t(`wafs.categories.${category}`) }));
  const rules = (data?.data ?? []).map(({ id, name }) => ({ value: id, label: `${name[language]} · ${id}` }));
  return (
    <ModuleForm kind="waf" endpoints={wafs} siteId={siteId} value={value} schema={WafInput}>
      <ChoiceField name="mode" segmented />
      <SensitivityField levels={data?.levels ?? []} />
      <ManyField name="disabledCategories" data={categories} />
      <ManyField name="disabledRules" data={rules} />
      <ExceptionsField choices={[...categories, ...rules]} />
      <NumberField name="bodyKiB" min={1} max={1024} suffix=" KiB" />
      <ChoiceField name="largeBodies" />
    </ModuleForm>
  );
}

const levels = ['1', '2', '3', '4'] as const;
type Levels = Received<typeof wafs.defaultRules>['levels'];

function SensitivityField({ levels: measured }: { levels: Levels }) {
  const t = useT();
  const { value, set, input } = useField('paranoia');
  const level = levels.find((one) => one === String(value)) ?? '1';
  const why = t(`wafs.levelWhy.${level}`);
  const cost = measured.find((one) => String(one.level) === level);
  return (
    <Input.Wrapper
      id={input.id}
      label={input.label}
      description={cost ? t('wafs.levelCost', { why, share: percent(cost.refused) }) : why}
      error={input.error}
      labelElement="div"
    >
      <div>
        <SegmentedControl
          aria-label={input.label}
          data={[...levels]}
          value={level}
          onChange={(next) => set(Number(next))}
          disabled={input.disabled}
        />
      </div>
    </Input.Wrapper>
  );
}
