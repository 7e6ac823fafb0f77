import { Select } from '@mantine/core';
import { useT } from '../../lib/i18n.ts';

interface ActionSelectProps<Action extends string> {
  actions: readonly Action[];
  value: Action;
  onChange: (action: Action) => void;
}

export function ActionSelect<Action extends 'deny' | 'drop' | 'redirect'>(props: ActionSelectProps<Action>) {
  const { actions, value, onChange } = props;
  const t = useT();
  return (
    <Select
      aria-label={t('hotlink.fields.action')}
      data={actions.map((action) => ({ value: action, label: t(`hotlink.choices.action.${action}`) }))}
      value={value}
      allowDeselect={false}
      onChange={(chosen) => onChange(actions.find((action) => action === chosen) ?? value)}
    />
  );
}
