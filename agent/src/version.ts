import agent from '../package.json' with { type: 'json' };

export const version: string = agent.version;
