// Where the agent was started from by its launcher (deploy/launch.sh), and the trial by which one release follows another.
import { appendFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { flush, flushAll } from '../store/durable.ts';
import { Health } from './health.ts';
import { Shelf } from './shelf.ts';

/** Who is on trial, and how the node was before. */
const TrialNote = z.object({ upgradeID: z.string(), before: Health });
export type TrialNote = z.output<typeof TrialNote>;

export class Home {
  readonly releases: Shelf;
  readonly #dir: string;
  /** The release that this process is of. */
  readonly own: string | null;

  constructor(dir: string) {
    this.#dir = dir;
    this.releases = new Shelf(path.join(dir, 'releases'), path.join(dir, 'current'));
    const [shelf, own] = [path.join(dir, 'releases'), realpathSync(path.dirname(fileURLToPath(import.meta.url)))];
    this.own = path.dirname(own) === shelf ? path.basename(own) : null;
  }

  /** Begins with the next start, unless that is of a release that serves already. */
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

  /** Which release is on trial, if one is. */
  async onTrial(): Promise<string | null> {
    return this.#text('to');
  }

  async trialNote(): Promise<TrialNote | null> {
    const text = await this.#text('note.json');
    return text === null ? null : TrialNote.parse(JSON.parse(text));
  }

  /** What it waits for; shown if the trial comes to nothing. */
  async waitsFor(what: string): Promise<void> {
    await writeFile(this.#trial('state'), `${what}\n`);
  }

  /** As often as it says this it has the time of a trial once more. */
  async lives(): Promise<void> {
    await appendFile(this.#trial('alive'), '.');
  }

  /** The launcher starts the one before next. */
  async giveUp(why: string): Promise<void> {
    await writeFile(this.#trial('why'), `${why}\n`);
    await flush(this.#trial('why'));
  }

  async endTrial(): Promise<void> {
    await rm(this.#trial('to'), { force: true });
    await rm(this.#trial(), { recursive: true, force: true });
  }

  /** The trial that came to nothing, until it has been told. */
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
