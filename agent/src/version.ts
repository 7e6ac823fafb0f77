import agent from '../package.json' with { type: 'json' };

/** Set by the build where a release's version differs from its sources. */
declare const EDGELOOM_VERSION: string | undefined;

export const version: string = typeof EDGELOOM_VERSION === 'string' ? EDGELOOM_VERSION : agent.version;
