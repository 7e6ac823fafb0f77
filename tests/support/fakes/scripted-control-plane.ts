// A scriptable control plane for one agent over real NATS and HTTP. It can lose or corrupt messages and respond
// wrongly, and it records what the agent sends.
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { openTrust } from '@edgeloom/api/core/trust.ts';
import { EMPTY_DIGEST, sha256, toggle } from '@edgeloom/contract/edge/digest.ts';
import { DOCUMENT_SCHEMA, keyOf } from '@edgeloom/contract/edge/documents.ts';
import type { EdgeDoc } from '@edgeloom/contract/edge/documents.ts';
import { Ack, CommandReply, Heartbeat, JoinRequest, SyncRequest } from '@edgeloom/contract/edge/messages.ts';
import type { DocEntry, DocPush, SyncReply } from '@edgeloom/contract/edge/messages.ts';
import { UpgradeReport } from '@edgeloom/contract/edge/releases.ts';
import { LogBatch, type LogReply } from '@edgeloom/contract/edge/log-batches.ts';
import { subjects } from '@edgeloom/contract/subjects.ts';
import { natsAuthenticator } from '@edgeloom/contract/edge/nats-key.ts';
import { connect } from 'nats';
import type { Msg, NatsConnection } from 'nats';

export interface PeerOptions {
  natsUrl: string;
  secretsDir: string;
  /** Documents per page of a sync. */
  pageSize?: number;
}

export async function startPeer({ natsUrl, secretsDir, pageSize = 500 }: PeerOptions): Promise<Peer> {
  const trust = await openTrust(secretsDir);
  const { jwt, seed } = trust.ownCredentials();
  const line = await connect({
    servers: natsUrl,
    authenticator: natsAuthenticator(jwt, seed),
    maxReconnectAttempts: -1,
    reconnectTimeWait: 50,
    reconnectJitter: 0,
    ignoreAuthErrorAbort: true,
  });
  const peer = new Peer(line, pageSize);
  const server = createServer((request, response) => {
    if (request.method === 'GET') return void peer.onArchive(request, response);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const asked = JoinRequest.parse(JSON.parse(Buffer.concat(chunks).toString()));
      peer.joins.push(asked);
      const known = asked.token === peer.token;
      response.writeHead(known ? 200 : 401, { 'content-type': 'application/json' });
      const credentials = trust.nodeCredentials(asked.publicKey, peer.nodeID, peer.zoneID);
      response.end(
        JSON.stringify(
          known
            ? {
                nodeID: peer.nodeID,
                zoneID: peer.zoneID,
                natsServers: [natsUrl],
                jwt: credentials,
                zoneKey: peer.zoneKey,
              }
            : { isError: true, code: 101013, message: 'Invalid Token' },
        ),
      );
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  peer.url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  peer.stop = async () => {
    server.close();
    server.closeAllConnections();
    await line.close();
  };
  return peer;
}

export class Peer {
  readonly nodeID = randomUUID();
  readonly zoneID = randomUUID();
  readonly token = randomBytes(32).toString('hex');
  zoneKey = randomBytes(32).toString('base64');
  readonly joins: JoinRequest[] = [];
  readonly acks: Ack[] = [];
  readonly heartbeats: Heartbeat[] = [];
  readonly syncs: SyncRequest[] = [];
  /** The newest entry of each key. Entries without a body are deleted. */
  readonly entries = new Map<string, DocEntry>();
  revision = 0;
  url = '';
  stop: () => Promise<void> = () => Promise.resolve();
  readonly upgrades: UpgradeReport[] = [];
  /** Serves release archives. */
  onArchive: (request: IncomingMessage, response: ServerResponse) => void | Promise<void> = (_, response) =>
    void response.writeHead(404).end();
  /** Lets a test change sync responses. */
  onSync: (reply: SyncReply) => unknown = (reply) => reply;
  readonly #line: NatsConnection;
  readonly #pageSize: number;

  constructor(line: NatsConnection, pageSize: number) {
    this.#line = line;
    this.#pageSize = pageSize;
    this.#subscribe(subjects.sync(this.nodeID), (message) => {
      const request = SyncRequest.parse(message.json());
      this.syncs.push(request);
      message.respond(JSON.stringify(this.onSync(this.#page(request))));
    });
    this.#subscribe(subjects.ack(this.nodeID), (message) => void this.acks.push(Ack.parse(message.json())));
    this.#subscribe(subjects.heartbeat(this.nodeID), (message) => {
      this.heartbeats.push(Heartbeat.parse(message.json()));
      message.respond(JSON.stringify({ revision: this.revision, digest: this.digest }));
    });
    this.#subscribe(subjects.upgrade(this.nodeID), (message) => {
      this.upgrades.push(UpgradeReport.parse(message.json()));
      message.respond('{}');
    });
  }

  /** Until this is called, log lines wait on the node. */
  receiveLogs(receive: (batch: LogBatch) => LogReply): void {
    this.#subscribe(subjects.logs(this.nodeID), (message) =>
      message.respond(JSON.stringify(receive(LogBatch.parse(message.json())))),
    );
  }

  get digest(): string {
    return [...this.entries.values()]
      .filter((entry) => entry.body !== null)
      .reduce((digest, entry) => toggle(digest, entry.key, entry.sha256), EMPTY_DIGEST);
  }

  /** The last revision that the agent reported. */
  get ackedRevision(): number {
    return this.acks.at(-1)?.revision ?? -1;
  }

  /** Stores documents, and deletes keys, without notifying the agent. Returns the push message. */
  store(...docs: (EdgeDoc | string)[]): DocPush {
    return this.storeBodies(
      docs.map((doc) => (typeof doc === 'string' ? [doc, null] : [keyOf(doc), JSON.stringify(doc)])),
    );
  }

  storeBodies(bodies: readonly (readonly [key: string, body: string | null])[]): DocPush {
    const previous = this.revision;
    const entries = bodies.map(([key, body]) => {
      this.revision += 1;
      const entry = { key, revision: this.revision, sha256: sha256(body ?? ''), body };
      this.entries.set(key, entry);
      return entry;
    });
    return { schema: DOCUMENT_SCHEMA, zone: this.zoneID, previous, revision: this.revision, docs: entries };
  }

  push(...docs: (EdgeDoc | string)[]): DocPush {
    const push = this.store(...docs);
    this.send(push);
    return push;
  }

  send(push: unknown): void {
    this.#line.publish(subjects.zoneDocs(this.zoneID), typeof push === 'string' ? push : JSON.stringify(push));
  }

  async command(name: string, body: object = {}, deadline = new Date(Date.now() + 60_000)): Promise<CommandReply> {
    const message = { id: randomUUID(), deadline: deadline.toISOString(), ...body };
    const answer = await this.#line.request(subjects.command(this.nodeID, name), JSON.stringify(message), {
      timeout: 60_000,
    });
    return CommandReply.parse(answer.json());
  }

  #page({ revision, full: going }: SyncRequest): SyncReply {
    const full = going || revision === 0 || revision > this.revision;
    const from = full && !going ? 0 : revision;
    const newer = [...this.entries.values()]
      .filter((entry) => entry.revision > from)
      .sort((a, b) => a.revision - b.revision);
    const docs = newer.slice(0, this.#pageSize);
    const more = newer.length > docs.length;
    return { schema: DOCUMENT_SCHEMA, full, docs, revision: more ? (docs.at(-1)?.revision ?? 0) : this.revision, more };
  }

  #subscribe(subject: string, task: (message: Msg) => void): void {
    this.#line.subscribe(subject, { callback: (error, message) => void (error === null && task(message)) });
  }
}
