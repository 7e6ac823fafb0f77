import {
  antiCCModes,
  antiCCPresets,
  ZoneAntiCCInput,
  type AntiCCPreset,
  type ZoneAntiCC,
} from '@edgeloom/contract/zone-anti-cc/zone-anti-cc.ts';
import { zoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import { Button, Radio, Select, Switch } from '@mantine/core';
import { Section } from '../../components/page/section.tsx';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import classes from './anti-cc-tab.module.css';
import { ChallengePreview } from './challenge-preview.tsx';
import type { Settings } from './draft.ts';
import { Drafting } from './drafting.tsx';
import { LinesSetting } from './lines-setting.tsx';
import { NumberSetting } from './number-setting.tsx';

type Count = 'requests' | 'seconds' | 'siteRate' | 'siteMinutes' | 'passSeconds' | 'fails' | 'blockSeconds';
const limits: Record<Count, { min: number; max: number; unit: number }> = {
  requests: { min: 0, max: 1_000_000, unit: 1 },
  seconds: { min: 1, max: 300, unit: 1 },
  siteRate: { min: 0, max: 1_000_000, unit: 1 },
  siteMinutes: { min: 1, max: 1440, unit: 1 },
  passSeconds: { min: 1, max: 1440, unit: 60 },
  fails: { min: 0, max: 10_000, unit: 1 },
  blockSeconds: { min: 1, max: 43_200, unit: 60 },
};
const presets: readonly AntiCCPreset[] = ['watch', 'normal', 'strict', 'attack'];
const difficulties = [1, 2, 3, 4, 5] as const;

/** Challenges for visitors that exceed a rate, and for all visitors during a flood. */
export function AntiCCTab({ zoneId, settings }: { zoneId: string; settings: Settings }) {
  const can = useCan();
  const disabled = !can(zoneSettings.set);
  return (
    <Drafting zoneId={zoneId} settings={settings}>
      {({ antiCC, ipset }, set) => {
        const section: SectionProps = {
          antiCC,
          disabled,
          change: (patch) => set({ antiCC: { ...antiCC, ...patch } }),
        };
        return (
          <>
            <EnabledSection {...section} />
            <PresetSection {...section} />
            <RateSection {...section} />
            <ModeSection {...section} />
            <PassSection {...section} hasBlockList={ipset.enabled} />
            <ExemptSection {...section} />
          </>
        );
      }}
    </Drafting>
  );
}

interface SectionProps {
  antiCC: ZoneAntiCC;
  disabled: boolean;
  change: (patch: Partial<ZoneAntiCC>) => void;
}

function EnabledSection({ antiCC, disabled, change }: SectionProps) {
  const t = useT();
  return (
    <Section title="antiCC.title" why="antiCC.why">
      <Switch
        label={t('antiCC.fields.enabled')}
        disabled={disabled}
        checked={antiCC.enabled}
        onChange={(event) => change({ enabled: event.currentTarget.checked })}
      />
      <Switch
        label={t('antiCC.fields.monitor')}
        description={t('antiCC.hints.monitor')}
        disabled={disabled || !antiCC.enabled}
        checked={antiCC.monitor}
        onChange={(event) => change({ monitor: event.currentTarget.checked })}
      />
    </Section>
  );
}

function PresetSection({ antiCC, disabled, change }: SectionProps) {
  const t = useT();
  const isApplied = (preset: AntiCCPreset) =>
    JSON.stringify({ ...antiCC, ...antiCCPresets[preset] }) === JSON.stringify(antiCC);
  return (
    <Section title="antiCC.presets" why="antiCC.presetsWhy" wide>
      <ul className={classes['presets']}>
        {presets.map((preset) => (
          <li key={preset}>
            <Button
              variant={isApplied(preset) ? 'filled' : 'default'}
              aria-pressed={isApplied(preset)}
              disabled={disabled}
              onClick={() => change(antiCCPresets[preset])}
            >
              {t(`antiCC.preset.${preset}`)}
            </Button>
            <small>{t(`antiCC.presetHints.${preset}`)}</small>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function RateSection(props: SectionProps) {
  return (
    <Section title="antiCC.who" why="antiCC.whoWhy">
      <CountSetting {...props} name="requests" />
      <CountSetting {...props} name="seconds" />
      <CountSetting {...props} name="siteRate" />
      <CountSetting {...props} name="siteMinutes" />
    </Section>
  );
}

function ModeSection({ antiCC, disabled, change }: SectionProps) {
  const t = useT();
  return (
    <Section title="antiCC.how" why="antiCC.howWhy" wide>
      <div className={classes['how']}>
        <Radio.Group
          aria-label={t('antiCC.fields.mode')}
          value={String(antiCC.mode)}
          onChange={(next) => {
            const mode = antiCCModes.find((one) => String(one) === next);
            if (mode) change({ mode });
          }}
        >
          {antiCCModes.map((mode) => (
            <Radio
              key={mode}
              value={String(mode)}
              label={t(`antiCC.modes.${mode}`)}
              description={t(`antiCC.modeHints.${mode}`)}
              disabled={disabled}
            />
          ))}
        </Radio.Group>
        <ChallengePreview mode={antiCC.mode} />
      </div>
    </Section>
  );
}

/** How hard a challenge is, how long a pass lasts, and when failures block an address. */
function PassSection(props: SectionProps & { hasBlockList: boolean }) {
  const { antiCC, disabled, change, hasBlockList } = props;
  const t = useT();
  return (
    <Section title="antiCC.proof" why="antiCC.proofWhy">
      <Select
        label={t('antiCC.fields.difficulty')}
        description={t('antiCC.hints.difficulty')}
        data={difficulties.map((level) => ({ value: String(level), label: t(`antiCC.difficulties.${level}`) }))}
        value={String(antiCC.difficulty)}
        allowDeselect={false}
        disabled={disabled || antiCC.mode === 4}
        onChange={(next) => next !== null && change({ difficulty: Number(next) })}
      />
      <CountSetting {...props} name="passSeconds" />
      <CountSetting {...props} name="fails" />
      <CountSetting {...props} name="blockSeconds" />
      {antiCC.fails > 0 && !hasBlockList && <p className={classes['note']}>{t('antiCC.noBlockSet')}</p>}
    </Section>
  );
}

function ExemptSection({ antiCC, disabled, change }: SectionProps) {
  const t = useT();
  const { paths, extensions } = ZoneAntiCCInput.shape;
  return (
    <Section title="antiCC.exempt" why="antiCC.exemptWhy">
      <LinesSetting
        name="paths"
        label={t('antiCC.fields.paths')}
        hint={t('antiCC.hints.paths')}
        value={antiCC.paths}
        schema={paths}
        judge={(line) => (paths.element.safeParse(line).success ? null : t('antiCC.badPath'))}
        placeholder={'/api/\n/.well-known/'}
        disabled={disabled}
        onChange={(next) => change({ paths: next })}
      />
      <LinesSetting
        name="extensions"
        label={t('antiCC.fields.extensions')}
        hint={t('antiCC.hints.extensions')}
        value={antiCC.extensions}
        schema={extensions}
        judge={(line) => (extensions.element.safeParse(line).success ? null : t('antiCC.badExtension'))}
        placeholder={'css\njs\npng'}
        disabled={disabled}
        onChange={(next) => change({ extensions: next })}
      />
    </Section>
  );
}

function CountSetting({ name, antiCC, disabled, change }: SectionProps & { name: Count }) {
  const t = useT();
  return (
    <NumberSetting
      label={t(`antiCC.fields.${name}`)}
      hint={t(`antiCC.hints.${name}`)}
      suffix={t(`antiCC.units.${name}`)}
      value={antiCC[name]}
      {...limits[name]}
      disabled={disabled}
      onChange={(next) => change({ [name]: next })}
    />
  );
}
