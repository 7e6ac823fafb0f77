import agent from '../package.json' with { type: 'json' };

/** Put in by the build, where a release has another version than its sources say. */
declare const EDGELOOM_VERSION: string | undefined;

export const version: string = typeof EDGELOOM_VERSION === 'string' ? EDGELOOM_VERSION : agent.version;
