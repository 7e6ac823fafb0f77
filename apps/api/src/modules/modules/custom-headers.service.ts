import { CustomHeaderSettings } from '@edgeloom/contract/modules/custom-headers.ts';
import { fail, fieldError } from '../../core/fail.ts';
import { modulesOf } from './modules.service.ts';

/** A name may occur once per direction, since the winner of two would not be visible in the list. */
export const customHeaders = modulesOf('customHeader', CustomHeaderSettings, (input) => {
  const { headers } = input;
  const keys = headers.map(({ direction, name }) => `${direction} ${name.toLowerCase()}`);
  const twice = keys.flatMap((key, i) =>
    keys.indexOf(key) < i ? [fieldError(`headers.${i}.name`, 'duplicate', 'data already exists')] : [],
  );
  if (twice.length > 0) fail('DUPLICATE_KEYS', { errorData: twice });
  return CustomHeaderSettings.parse(input);
});
