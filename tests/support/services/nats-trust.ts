// The accounts and credentials of an installation's NATS server.
export { openTrust, serverConfig } from '@edgeloom/api/core/trust.ts';
