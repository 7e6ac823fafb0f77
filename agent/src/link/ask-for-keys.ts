// Requests the zone's keys over the bus without trusting it: the node signs the request with its own key.
// It accepts only a response signed by the account that issued its credentials.
import { answeredText, askedText, newBox } from '@edgeloom/contract/edge/key-box.ts';
import { isSignedBy, openNatsKey } from '@edgeloom/contract/edge/nats-key.ts';
import { KeysReply } from '@edgeloom/contract/edge/messages.ts';
import type { ZoneKeys } from '@edgeloom/contract/edge/sealed.ts';
import * as z from 'zod';
import type { Identity } from './identity.ts';

export async function askForKeys(
  { nodeID, jwt, seed }: Pick<Identity, 'nodeID' | 'jwt' | 'seed'>,
  ask: (message: object) => Promise<unknown>,
): Promise<ZoneKeys> {
  const { box, open } = newBox(nodeID);
  const signature = openNatsKey(seed).sign(askedText(nodeID, box)).toString('base64');
  const { signature: theirs, ...answer } = KeysReply.parse(await ask({ box, signature }));
  if (!isSignedBy(issuerOf(jwt), answeredText(nodeID, box, answer), Buffer.from(theirs, 'base64')))
    throw new Error('the response with the zone keys is not signed by our control plane');
  return open(answer);
}

const Claim = z.object({ iss: z.string() });

function issuerOf(jwt: string): string {
  const [, claim = ''] = jwt.split('.');
  return Claim.parse(JSON.parse(Buffer.from(claim, 'base64url').toString())).iss;
}
