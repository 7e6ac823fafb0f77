// The body of a simulated request.
import * as z from 'zod';

const MAX_BODY_BYTES = 65_536;
const MAX_TEXT_LENGTH = Math.ceil(MAX_BODY_BYTES / 3) * 4;

/** Base64, because a body may have any bytes. */
export const SimulatedBody = z.base64({ message: 'wrong format' }).max(MAX_TEXT_LENGTH, { message: 'too large' });
