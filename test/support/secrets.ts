import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'

/** The secrets of a test, by what they are; each is looked for in whatever form it may leak. */
export class Secrets {
  readonly #values = new Map<string, string>()

  /** Remembers a secret and hands it back. */
  add(name: string, value: string | undefined): string {
    if (value === undefined || value.length < 12) throw new Error(`${name}: too short to look for`)
    this.#values.set(name, value)
    return value
  }

  get names(): string[] {
    return [...this.#values.keys()]
  }

  /** Names of the secrets that stand in the bytes: as they are, in part, as hex or as base64. */
  in(bytes: Uint8Array | string): string[] {
    const buffer = Buffer.from(bytes)
    return [...this.#values]
      .filter(([, value]) => needlesOf(value).some((needle) => buffer.includes(needle)))
      .map(([name]) => name)
  }

  /**
   * Reads every file under a folder, whatever it is. Answers `file: secret` for each find; `except`
   * tells the files that are there to hold one.
   */
  async inFiles(folder: string, except: readonly string[] = []): Promise<string[]> {
    const found: string[] = []
    for (const file of await filesUnder(folder)) {
      const name = relative(folder, file)
      if (except.includes(name)) continue
      // PostgreSQL removes files of its own at any time.
      const bytes = await readFile(file).catch(() => undefined)
      if (bytes !== undefined) found.push(...this.in(bytes).map((secret) => `${name}: ${secret}`))
    }
    return found
  }
}

/** Whether a text stands in any file under a folder: what a search finds at all. */
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

/** The part of a secret that is long enough to be of use to a thief. */
const part_chars = 24

/**
 * A key of ours tells by what follows its public prefix; a token by its claims and its signature;
 * anything by its end, which a cut in front would leave.
 */
function needlesOf(value: string): string[] {
  const [, claims, signature] = /^eyJ[\w-]+\.([\w-]+)\.([\w-]+)$/.exec(value) ?? []
  const tells = [value, value.slice(-part_chars)]
  if (claims && signature)
    tells.push(claims.slice(0, 2 * part_chars), signature.slice(0, part_chars))
  const bytes = Buffer.from(value)
  return [...tells, bytes.toString('hex'), bytes.toString('base64').replace(/=+$/, '')]
}
