// Statistics of layer-4 sessions: what forwards transferred, and what nodes dropped.
import * as z from 'zod';
import { Time } from '../common/common.ts';
import { CountrySource, ReportInterval, Selection, withCustomTimes } from './statistics.ts';

/** Dropped: by a rule or limit of the node. Failed: no origin accepted the session. */
export const layer4Outcomes = ['allowed', 'dropped', 'failed'] as const;
export const Layer4Outcome = z.enum(layer4Outcomes);
export type Layer4Outcome = z.output<typeof Layer4Outcome>;

/** Why kernels drop packets: the block set, the block list, the risk level, and too many new connections. */
export const dropCauses = ['blocked', 'blacklist', 'risk', 'syn'] as const;
export const DropCause = z.enum(dropCauses);
export type DropCause = z.output<typeof DropCause>;

const Layer4Selection = Selection.omit({ domains: true, filters: true });
const top = z.int().min(1).max(50).default(5);
const reportInterval = ReportInterval.default(5).describe('Minutes');
const Country = z.string().max(2).describe('ISO 3166; empty if unknown');
const Values = z.array(z.number().nullable()).describe('Bits per second. Null: not measured');

export const Layer4Query = withCustomTimes(Layer4Selection);
export const Layer4SeriesQuery = withCustomTimes(Layer4Selection.extend({ reportInterval }));
export const Layer4TopQuery = withCustomTimes(
  Layer4Selection.extend({ top, outcome: Layer4Outcome.optional().describe('All outcomes, unless chosen') }),
);
export const Layer4CountrySeriesQuery = withCustomTimes(
  Layer4Selection.extend({ top, outcome: Layer4Outcome.optional(), reportInterval }),
);

/** All nodes of the caller's zones count, because the kernel knows no site. */
export const KernelDropsQuery = withCustomTimes(
  Selection.pick({ timeInterval: true, startTime: true, endTime: true, timeZone: true }).extend({ reportInterval }),
);

const Steps = z.object({
  from: Time,
  to: Time,
  stepSeconds: z.int(),
  times: z.array(Time).describe('The beginning of each step'),
});
export const Layer4OutcomeSeries = Steps.extend({
  series: z.array(z.object({ outcome: Layer4Outcome, values: Values })),
});
export const Layer4CountrySeries = Steps.extend({
  series: z.array(z.object({ country: Country, values: Values })).describe('The countries of the top, largest first'),
});

export const KernelDrops = Steps.extend({
  series: z
    .array(
      z.object({
        cause: DropCause,
        packets: z.array(z.number().nullable()).describe('Per second. Null: not measured'),
        bits: Values,
      }),
    )
    .describe('Each cause, also without packets'),
});

const sums = { bits: z.int().describe('In both directions'), sessions: z.int() };
export const Layer4Sums = z.object({
  from: Time,
  to: Time,
  data: z.array(z.object({ outcome: Layer4Outcome, ...sums })).describe('Each outcome, also without sessions'),
});
export const Layer4Top = z.object({
  from: Time,
  to: Time,
  data: z.array(z.object({ country: Country, ...sums })),
  total: z.object(sums).describe('Of all countries'),
  countrySource: CountrySource,
});

export type Layer4Query = z.output<typeof Layer4Query>;
export type Layer4SeriesQuery = z.output<typeof Layer4SeriesQuery>;
export type Layer4TopQuery = z.output<typeof Layer4TopQuery>;
export type Layer4CountrySeriesQuery = z.output<typeof Layer4CountrySeriesQuery>;
export type KernelDropsQuery = z.output<typeof KernelDropsQuery>;
export type KernelDrops = z.output<typeof KernelDrops>;
export type Layer4OutcomeSeries = z.output<typeof Layer4OutcomeSeries>;
export type Layer4CountrySeries = z.output<typeof Layer4CountrySeries>;
export type Layer4Sums = z.output<typeof Layer4Sums>;
export type Layer4Top = z.output<typeof Layer4Top>;
