// The connection to NATS of a node or a monitor.
import { natsAuthenticator } from '@edgeloom/contract/edge/nats-key.ts';
import { inboxPrefix } from '@edgeloom/contract/subjects.ts';
import { connect, type NatsConnection } from 'nats';
import type { Identity } from './identity.ts';

const CONNECT_TIMEOUT_MS = 5000;

export const connectToNats = ({ nodeID, natsServers, jwt, seed }: Omit<Identity, 'zoneID'>): Promise<NatsConnection> =>
  connect({
    servers: natsServers,
    authenticator: natsAuthenticator(jwt, seed),
    name: `node ${nodeID}`,
    inboxPrefix: inboxPrefix(nodeID),
    maxReconnectAttempts: -1,
    // A server that lost its account claims refuses every client until it has them again.
    ignoreAuthErrorAbort: true,
    timeout: CONNECT_TIMEOUT_MS,
    reconnectTimeWait: 250,
    reconnectJitter: 1000,
    reconnectJitterTLS: 1000,
    pingInterval: 10_000,
    maxPingOut: 2,
  });
