import { get, onClient } from '../endpoint.ts';
import { ClientHealth } from './client-health.ts';

export const clientHealth = onClient('clientHealth', {
  get: get('health', { can: 'setting:read', reply: ClientHealth }),
});
