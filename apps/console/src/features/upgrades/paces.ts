// Rollout strategies as form values: presets, custom, or fast lane.
import { RolloutGates, RolloutStrategy } from '@edgeloom/contract/rollouts/rollouts.ts';
import { ReleaseVersion } from '@edgeloom/contract/edge/releases.ts';
import * as z from 'zod';

const made = {
  careful: { percent: [5, 25, 50, 100], soakSeconds: 600 },
  usual: { percent: [10, 100], soakSeconds: 60 },
  quick: { percent: [50, 100], soakSeconds: 30 },
} as const;

export const Pace = z.enum(['usual', 'careful', 'quick', 'own', 'allAtOnce']);

const percents = (text: string) =>
  text
    .split(/[\s,，、%]+/)
    .filter((part) => part !== '')
    .map(Number);
const rises = (list: readonly number[]) => list.every((percent, i) => percent > (list[i - 1] ?? 0));

/** Fields of the form. Shares are in percent. */
export const UpgradeDraft = z
  .object({
    version: ReleaseVersion,
    strategy: Pace.default('usual'),
    canary: z.boolean().default(true),
    percent: z
      .string()
      .default('10, 100')
      .refine((text) => {
        const list = percents(text);
        return (
          list.length > 0 && list.length <= 10 && list.every(Number.isInteger) && rises(list) && list.at(-1) === 100
        );
      }),
    soakSeconds: z.int().min(0).max(86_400).default(60),
    deadlineSeconds: z.int().min(10).max(86_400).default(600),
    serverErrors: z.number().min(0).max(100).default(5),
    refusals: z.number().min(0).max(100).default(10),
    latencyFactor: z.number().min(1).max(100).default(3),
    requests: z.int().min(1).max(1_000_000).default(20),
    reason: z.string().trim().max(256).default(''),
  })
  .refine(({ strategy, reason }) => strategy !== 'allAtOnce' || reason !== '', { path: ['reason'] });
export type UpgradeDraft = z.output<typeof UpgradeDraft>;

/** The strategy of the form. Custom fields apply only to the custom preset. */
export function strategyOf(draft: UpgradeDraft): RolloutStrategy {
  if (draft.strategy === 'allAtOnce') return { type: 'allAtOnce' };
  if (draft.strategy !== 'own') {
    const { percent, soakSeconds } = made[draft.strategy];
    return RolloutStrategy.parse({ type: 'waves', percent: [...percent], soakSeconds });
  }
  const { canary, percent, soakSeconds, deadlineSeconds, serverErrors, refusals, latencyFactor, requests } = draft;
  const gates = RolloutGates.parse({
    serverErrors: serverErrors / 100,
    refusals: refusals / 100,
    latencyFactor,
    requests,
  });
  return { type: 'waves', canary, percent: percents(percent), soakSeconds, deadlineSeconds, gates };
}
