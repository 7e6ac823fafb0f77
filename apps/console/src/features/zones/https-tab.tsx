import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { Select } from '@mantine/core';
import { Section } from '../../components/page/section.tsx';
import { useField } from '../../components/resource-form/form-state.ts';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import type { Zone } from './zones-page.tsx';

const codes = [301, 302, 307, 308] as const;

/** What holds for HTTPS on all domains of a zone. */
export function HttpsTab({ zone }: { zone: Zone }) {
  return (
    <ResourceForm
      update={zones.forceSSLRedirectCode}
      params={{ zoneId: zone.id }}
      value={{ code: zone.forceSSLRedirectCode }}
      bar
    >
      <Section title="zones.redirect.title" why="zones.redirect.why">
        <CodeField />
      </Section>
    </ResourceForm>
  );
}

function CodeField() {
  const t = useT();
  const can = useCan();
  const { value, set, input } = useField('code');
  return (
    <div>
      <Select
        {...input}
        data={codes.map((code) => ({ value: String(code), label: t(`zones.choices.code.${code}`) }))}
        value={String(value)}
        allowDeselect={false}
        disabled={input.disabled || !can(zones.forceSSLRedirectCode)}
        onChange={(next) => set(Number(next))}
      />
    </div>
  );
}
