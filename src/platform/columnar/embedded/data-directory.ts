import { randomBytes } from 'node:crypto'
import { mkdir, open, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '../../folders/index.ts'

/** Paths and password of an embedded server's data. */
export type DataDirectory = {
  /** Data folder of ClickHouse. */
  engine: string
  /** Folder for the bodies of running inserts. */
  inserts: string
  pid_file: string
  password: string
}

/** The only user of an embedded server. */
export const embeddedUsername = 'looptrace'

/** Creates the folders, and on the first call a random password, readable only by this account. */
export async function prepareDataDirectory(directory: string): Promise<DataDirectory> {
  const engine = join(directory, 'engine')
  const inserts = join(directory, 'inserts')
  await makeFolder(engine, { mode: 0o700 })
  await makeFolder(inserts, { mode: 0o700 })
  const password = await readOrCreatePassword(join(directory, 'password'))
  return { engine, inserts, pid_file: join(directory, 'server.pid'), password }
}

/** Removes insert bodies of a killed server. Only the process that owns the folder may call it. */
export async function clearInserts({ inserts }: DataDirectory): Promise<void> {
  await rm(inserts, { recursive: true, force: true })
  await mkdir(inserts, { mode: 0o700 })
}

async function readOrCreatePassword(path: string): Promise<string> {
  const password = randomBytes(24).toString('base64url')
  try {
    await writeDurably(path, password)
    return password
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const kept = (await readFile(path, 'utf8')).trim()
  if (kept !== '') return kept
  await writeFile(path, password, { mode: 0o600 })
  return password
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}
