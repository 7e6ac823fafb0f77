// The launcher's directory (deploy/launch.sh), and the trial by which one release replaces another.
import { appendFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { flush, flushAll } from '../store/durable.ts';
import { Health } from './health.ts';
import { ReleaseStore } from './release-store.ts';

/** The release on trial, and the node's health before it. */
const TrialNote = z.object({ upgradeID: z.string(), before: Health });
export type TrialNote = z.output<typeof TrialNote>;

export class Home {
  readonly releases: ReleaseStore;
  readonly #dir: string;
  /** The release of this process. */
  readonly own: string | null;

  constructor(dir: string) {
    this.#dir = dir;
    this.releases = new ReleaseStore(path.join(dir, 'releases'), path.join(dir, 'current'));
    const [releases, own] = [path.join(dir, 'releases'), realpathSync(path.dirname(fileURLToPath(import.meta.url)))];
    this.own = path.dirname(own) === releases ? path.basename(own) : null;
  }

  /** Starts with the next launch, unless that release serves already. */
  async try(name: string, note: TrialNote): Promise<void> {
    const [trial, fresh] = [this.#trial(), path.join(this.#dir, 'trial.new')];
    await rm(trial, { recursive: true, force: true });
    await rm(fresh, { recursive: true, force: true });
    await mkdir(fresh);
    const files = { to: name, 'note.json': JSON.stringify(note) };
    for (const [file, text] of Object.entries(files)) await writeFile(path.join(fresh, file), `${text}\n`);
    await flushAll([...Object.keys(files).map((file) => path.join(fresh, file)), fresh]);
    await rename(fresh, trial);
    await flush(this.#dir);
  }

  /** The release on trial, if any. */
  async onTrial(): Promise<string | null> {
    return this.#text('to');
  }

  async trialNote(): Promise<TrialNote | null> {
    const text = await this.#text('note.json');
    return text === null ? null : TrialNote.parse(JSON.parse(text));
  }

  /** Records what the trial waits for, shown if it fails. */
  async noteWaitingFor(what: string): Promise<void> {
    await writeFile(this.#trial('state'), `${what}\n`);
  }

  /** Extends the trial's time. */
  async keepAlive(): Promise<void> {
    await appendFile(this.#trial('alive'), '.');
  }

  /** Makes the launcher start the former release next. */
  async giveUp(why: string): Promise<void> {
    await writeFile(this.#trial('why'), `${why}\n`);
    await flush(this.#trial('why'));
  }

  async endTrial(): Promise<void> {
    await rm(this.#trial('to'), { force: true });
    await rm(this.#trial(), { recursive: true, force: true });
  }

  /** The failed trial, until it has been reported. */
  async failure(): Promise<{ name: string; why: string } | null> {
    const [name, why] = await Promise.all(
      ['to', 'why'].map((file) => readFile(path.join(this.#dir, 'failed', file), 'utf8').catch(() => null)),
    );
    return name == null ? null : { name: name.trim(), why: why?.trim() ?? '' };
  }

  async forgetFailure(): Promise<void> {
    await rm(path.join(this.#dir, 'failed'), { recursive: true, force: true });
  }

  #trial(...inside: string[]): string {
    return path.join(this.#dir, 'trial', ...inside);
  }

  async #text(file: string): Promise<string | null> {
    const text = await readFile(this.#trial(file), 'utf8').catch(() => null);
    return text?.trim() ?? null;
  }
}
