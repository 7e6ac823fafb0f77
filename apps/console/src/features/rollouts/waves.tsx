import { StepRun, type RunStep } from '../../components/step-run/step-run.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { toneOf } from '../../components/status/status.tsx';
import { duration, lasted } from '../../lib/format.ts';
import { useLanguage, useT, type T } from '../../lib/i18n.ts';
import type { Language } from '../../lib/languages.ts';
import {
  figuresOf,
  nodesText,
  messageText,
  remainingSoak,
  waveName,
  type Gate,
  type Rollout,
  type Wave,
} from './format.ts';
import classes from './rollouts.module.css';

/** The waves with their progress, remaining time and gates. */
export function Waves({ rollout: { waves, wave: current, state }, now }: { rollout: Rollout; now: number }) {
  const t = useT();
  const language = useLanguage();
  return (
    <StepRun
      steps={waves.map((wave) => ({
        ...stepOf(wave, now, t, language),
        isCurrent: wave.position === current && state === 'running',
        title: waveName(wave, waves.length, t),
      }))}
    />
  );
}

function stepOf(wave: Wave, now: number, t: T, language: Language): Omit<RunStep, 'title' | 'isCurrent'> {
  const { position, state, startedAt, endedAt, gates } = wave;
  const seconds = remainingSoak(wave, now);
  const watched =
    seconds === 0 ? t('rollouts.wave.judging') : t('rollouts.wave.watched', { time: duration(seconds ?? 0, language) });
  // Passed gates without figures share a line.
  const withoutFigures = gates.filter(({ state: gateState, value }) => gateState === 'passed' && value === null);
  const shown = gates.filter((gate) => gate.state !== 'waiting' && !withoutFigures.includes(gate));
  return {
    key: String(position),
    tone: toneOf('wave', state),
    state: t(`status.wave.${state}`),
    isWaiting: state === 'waiting',
    why: [nodesText(wave, t), ...(seconds === null ? [] : [watched])].join(' · '),
    took:
      startedAt !== null && lasted((endedAt === null ? now : Date.parse(endedAt)) - Date.parse(startedAt), language),
    more: withoutFigures.length + shown.length > 0 && (
      <ul className={classes['gates']}>
        {withoutFigures.length > 0 && (
          <li>
            <StatusMark tone="ok" label={t('status.gate.passed')} />
            <div>{withoutFigures.map(({ gate }) => t(`rollouts.gate.${gate}`)).join(' · ')}</div>
          </li>
        )}
        {shown.map((gate) => (
          <GateLine key={gate.gate} gate={gate} />
        ))}
      </ul>
    ),
  };
}

function GateLine({ gate }: { gate: Gate }) {
  const t = useT();
  const { state, nodeName } = gate;
  const text = messageText({ message: gate.message, messageCode: gate.messageCode ?? null }, t, useLanguage());
  const figures = figuresOf(gate, t);
  return (
    <li data-state={state}>
      <StatusMark tone={toneOf('gate', state)} label={t(`status.gate.${state}`)} />
      <div>
        {t(`rollouts.gate.${gate.gate}`)}
        {state === 'failed' && nodeName !== null && ` · ${t('rollouts.gate.at', { node: nodeName })}`}
        {figures !== null && <div className={classes['figures']}>{figures}</div>}
        {text !== null && <div className={classes['message']}>{text}</div>}
      </div>
    </li>
  );
}
