import { zoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import type { Resource } from '@edgeloom/contract/zone-settings/zone-settings.ts';
import { Section } from '../../components/page/section.tsx';
import { tMaybe, useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import type { Settings } from './draft.ts';
import { Drafting } from './drafting.tsx';
import { NumberSetting } from './number-setting.tsx';

const MiB = 1024 ** 2;
const GiB = 1024 ** 3;

interface Size {
  name: keyof Resource;
  /** Factor between the shown and the stored number. */
  unit: number;
  suffix?: string;
  min: number;
  max: number;
  /** 0 means no limit. */
  unlimited?: boolean;
}
const workers: readonly Size[] = [
  { name: 'workerProcesses', unit: 1, min: 0, max: 256 },
  { name: 'workerConnections', unit: 1, min: 1024, max: 1_000_000 },
];
const cache: readonly Size[] = [
  { name: 'cacheBytes', unit: GiB, suffix: ' GiB', min: 0, max: 900_000, unlimited: true },
  { name: 'cacheKeyBytes', unit: MiB, suffix: ' MiB', min: 1, max: 16_384 },
  { name: 'cacheInactiveSeconds', unit: 86_400, min: 1, max: 365 },
];
const bodies: readonly Size[] = [
  { name: 'bodyBytes', unit: MiB, suffix: ' MiB', min: 0, max: 900_000, unlimited: true },
];

/** Resource limits of each node. */
export function ResourceTab({ zoneId, settings }: { zoneId: string; settings: Settings }) {
  return (
    <Drafting zoneId={zoneId} settings={settings}>
      {({ resource }, set) => {
        const fields = (sizes: readonly Size[]) =>
          sizes.map((size) => (
            <SizeField
              key={size.name}
              size={size}
              value={resource[size.name]}
              onChange={(value) => set({ resource: { ...resource, [size.name]: value } })}
            />
          ));
        return (
          <>
            <Section title="zoneSettings.workers" why="zoneSettings.workersWhy">
              {fields(workers)}
            </Section>
            <Section title="zoneSettings.cache" why="zoneSettings.cacheWhy">
              {fields(cache)}
            </Section>
            <Section title="zoneSettings.bodies" why="zoneSettings.bodiesWhy">
              {fields(bodies)}
            </Section>
          </>
        );
      }}
    </Drafting>
  );
}

function SizeField({ size, value, onChange }: { size: Size; value: number; onChange: (value: number) => void }) {
  const t = useT();
  const can = useCan();
  const { name, unit, ...rest } = size;
  return (
    <NumberSetting
      label={t(`zoneSettings.fields.${name}`)}
      hint={tMaybe(`zoneSettings.hints.${name}`)}
      decimals={unit > 1 ? 2 : 0}
      disabled={!can(zoneSettings.set)}
      {...{ unit, value, onChange }}
      {...rest}
    />
  );
}
