// NATS subjects, from wide to narrow. A node may subscribe to its zone's documents, its commands and its inbox, and
// publish on its rpc and up subjects and replies to commands. nodePermissions enforces this.
export const subjects = {
  zoneDocs: (zoneID: string) => `edge.zone.${zoneID}.doc`,
  zoneBlocks: (zoneID: string) => `edge.zone.${zoneID}.blocks`,
  sync: (nodeID: string) => `rpc.${nodeID}.sync`,
  blocksSince: (nodeID: string) => `rpc.${nodeID}.blocks`,
  keys: (nodeID: string) => `rpc.${nodeID}.keys`,
  ack: (nodeID: string) => `up.${nodeID}.ack`,
  heartbeat: (nodeID: string) => `up.${nodeID}.heartbeat`,
  origins: (nodeID: string) => `up.${nodeID}.origins`,
  cached: (nodeID: string) => `up.${nodeID}.cached`,
  upgrade: (nodeID: string) => `up.${nodeID}.upgrade`,
  blocks: (nodeID: string) => `up.${nodeID}.blocks`,
  logs: (nodeID: string) => `up.${nodeID}.logs`,
  monitor: (monitorID: string) => `up.${monitorID}.monitor`,
  command: (nodeID: string, name: string) => `cmd.${nodeID}.${name}`,
} as const;

/** Equal for all nodes. Workers share a queue group on them. */
export const everyNode = {
  sync: 'rpc.*.sync',
  blocksSince: 'rpc.*.blocks',
  keys: 'rpc.*.keys',
  ack: 'up.*.ack',
  heartbeat: 'up.*.heartbeat',
  origins: 'up.*.origins',
  cached: 'up.*.cached',
  upgrade: 'up.*.upgrade',
  blocks: 'up.*.blocks',
  logs: 'up.*.logs',
  monitor: 'up.*.monitor',
} as const;

/** Everything that nodes may publish. */
export const anythingOfNodes = ['up.*.*', 'rpc.*.*'] as const;

export const inboxPrefix = (nodeID: string) => `_INBOX_${nodeID}`;

export const nodePermissions = (nodeID: string, zoneID: string) => ({
  pub: { allow: [`rpc.${nodeID}.>`, `up.${nodeID}.>`], deny: [] },
  sub: { allow: [`edge.zone.${zoneID}.>`, `cmd.${nodeID}.>`, `${inboxPrefix(nodeID)}.>`], deny: [] },
  /** Replies to commands only: one each, within a minute. */
  resp: { max: 1, ttl: 60_000_000_000 },
});

/** A monitor sends reports and receives their replies, and nothing else. */
export const monitorPermissions = (monitorID: string) => ({
  pub: { allow: [subjects.monitor(monitorID)], deny: [] },
  sub: { allow: [`${inboxPrefix(monitorID)}.>`], deny: [] },
});

/** The sender of a message, from its subject, which the server has checked. */
export const nodeOf = (subject: string) => subject.split('.')[1] ?? '';
