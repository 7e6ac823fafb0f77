// Why a message of an alert was not delivered, as its tenant reads it: no text of other servers, and nothing about
// internal names.
import type { AlertDeliveryError } from '@edgeloom/contract/notify-setting/notify-setting.ts';
import { OutboundRefusal } from '../core/outbound-fetch.ts';

interface Details {
  /** The receiver asked for a wait this long. */
  retryAfterSeconds?: number | null;
  /** The receiver refused this message, and may accept others. */
  isRefused?: boolean;
  cause?: unknown;
}

export class DeliveryError extends Error {
  readonly code: AlertDeliveryError;
  readonly retryAfterSeconds: number | null;
  readonly isRefused: boolean;
  constructor(
    code: AlertDeliveryError,
    text: string,
    { retryAfterSeconds = null, isRefused = false, cause }: Details = {},
  ) {
    super(text, { cause });
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
    this.isRefused = isRefused;
  }
}

/** For errors of a connection. */
export function connectionError(error: unknown): DeliveryError {
  if (error instanceof OutboundRefusal) return new DeliveryError('policy', error.message);
  const text = error instanceof Error ? `${String(Reflect.get(error, 'code') ?? '')} ${error.message}` : '';
  return new DeliveryError(codeOf(text), text, { cause: error });
}

function codeOf(text: string): AlertDeliveryError {
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/.test(text)) return 'certificate';
  return /timeout|within|ETIMEDOUT|aborted/.test(text) ? 'timeout' : 'connection';
}
