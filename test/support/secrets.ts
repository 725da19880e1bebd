import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'

/** The secrets of a test, by kind; each is searched in every form in which it may leak. */
export class Secrets {
  readonly #values = new Map<string, string>()

  /** Registers a secret and returns it. */
  add(name: string, value: string | undefined): string {
    if (value === undefined || value.length < 12) throw new Error(`${name}: too short to look for`)
    this.#values.set(name, value)
    return value
  }

  get names(): string[] {
    return [...this.#values.keys()]
  }

  /** Names of the secrets in the bytes: verbatim, in part, as hex or as base64. */
  in(bytes: Uint8Array | string): string[] {
    const buffer = Buffer.from(bytes)
    return [...this.#values]
      .filter(([, value]) => needlesOf(value).some((needle) => buffer.includes(needle)))
      .map(([name]) => name)
  }

  /**
   * Reads every file under a folder. Returns `file: secret` for each hit; `except` lists files that
   * are meant to hold a secret.
   */
  async inFiles(folder: string, except: readonly string[] = []): Promise<string[]> {
    const found: string[] = []
    for (const file of await filesUnder(folder)) {
      const name = relative(folder, file)
      if (except.includes(name)) continue
      // PostgreSQL may remove its files at any time.
      const bytes = await readFile(file).catch(() => undefined)
      if (bytes !== undefined) found.push(...this.in(bytes).map((secret) => `${name}: ${secret}`))
    }
    return found
  }
}

/** Whether any file under a folder contains a text: proves that the search works. */
export async function filesWith(folder: string, text: string): Promise<string[]> {
  const found: string[] = []
  for (const file of await filesUnder(folder)) {
    const bytes = await readFile(file).catch(() => undefined)
    if (bytes?.includes(text)) found.push(relative(folder, file))
  }
  return found
}

async function filesUnder(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

/** The part of a secret that is long enough to be of use to an attacker. */
const part_chars = 24

/**
 * The sensitive part of our own keys follows the public prefix; of a token it is the claims and the
 * signature; of any other secret the end, which truncation would leave.
 */
function needlesOf(value: string): string[] {
  const [, claims, signature] = /^eyJ[\w-]+\.([\w-]+)\.([\w-]+)$/.exec(value) ?? []
  const needles = [value, value.slice(-part_chars)]
  if (claims && signature)
    needles.push(claims.slice(0, 2 * part_chars), signature.slice(0, part_chars))
  const bytes = Buffer.from(value)
  return [...needles, bytes.toString('hex'), bytes.toString('base64').replace(/=+$/, '')]
}
