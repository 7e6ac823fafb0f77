// Requests the zone's keys over the bus without trusting it: the node signs the request with its own key.
// It accepts only a response signed by the account that issued its credentials.
import { answeredText, askedText, newBox } from '@edgeloom/contract/edge/key-box.ts';
import { KeysReply } from '@edgeloom/contract/edge/messages.ts';
import type { ZoneKeys } from '@edgeloom/contract/edge/sealed.ts';
import { nkeys } from 'nats';
import * as z from 'zod';
import type { Identity } from './identity.ts';

export async function askForKeys(
  { nodeID, jwt, seed }: Pick<Identity, 'nodeID' | 'jwt' | 'seed'>,
  ask: (message: object) => Promise<unknown>,
): Promise<ZoneKeys> {
  const { box, open } = newBox(nodeID);
  const signature = text(nkeys.fromSeed(seed).sign(Buffer.from(askedText(nodeID, box))));
  const { signature: theirs, ...answer } = KeysReply.parse(await ask({ box, signature }));
  const signedText = Buffer.from(answeredText(nodeID, box, answer));
  if (!nkeys.fromPublic(issuerOf(jwt)).verify(signedText, Buffer.from(theirs, 'base64')))
    throw new Error('the response with the zone keys is not signed by our control plane');
  return open(answer);
}

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const Claim = z.object({ iss: z.string() });

function issuerOf(jwt: string): string {
  const [, claim = ''] = jwt.split('.');
  return Claim.parse(JSON.parse(Buffer.from(claim, 'base64url').toString())).iss;
}
