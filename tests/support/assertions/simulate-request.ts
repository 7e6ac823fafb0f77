// Sends a simulated request to a real edge, as the agent does.
import { join } from 'node:path';
import { simulate } from '@edgeloom/agent/nginx/simulate.ts';
import type { Simulated, SimulatedRequest } from '@edgeloom/contract/edge/simulated.ts';
import type { Edge } from '../services/edge.ts';

export const simulateRequest = (
  edge: Edge,
  host: string,
  path: string,
  over: Partial<SimulatedRequest> = {},
  withinMs = 10_000,
): Promise<Omit<Simulated, 'revision'>> =>
  simulate(
    edge.admin,
    join(edge.dir, 'run/simulate.sock'),
    {
      scheme: 'http',
      port: edge.ports.http,
      method: 'GET',
      host,
      path,
      headers: [],
      ip: '127.0.0.1',
      answer: { status: 200, headers: [['Content-Type', 'text/html']] },
      ...over,
    },
    withinMs,
  );
