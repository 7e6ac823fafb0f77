// Firewalls of sites.
import { WafSettings, type WafException, type WafInput } from '@edgeloom/contract/waf/waf.ts';
import type * as z from 'zod';
import { fail, fieldError } from '../../core/fail.ts';
import { modulesOf } from '../modules/modules.service.ts';

export const modules = modulesOf<WafSettings, z.output<typeof WafInput>>(
  'waf',
  WafSettings,
  (input, { ctx, before }) => {
    const stored = before === null ? [] : WafSettings.parse(before).exceptions;
    const errorData = input.exceptions.flatMap((exception, i) =>
      hasEnded(exception, ctx.now()) && !stored.some((one) => one.until === exception.until)
        ? [fieldError(`exceptions.${i}.until`, 'past', 'the date has passed')]
        : [],
    );
    if (errorData.length > 0) fail('PARAMETER', { errorData });
    return WafSettings.parse(input);
  },
);

const hasEnded = ({ until }: Pick<WafException, 'until'>, now: Date) => until !== null && Date.parse(until) <= now.getTime();
