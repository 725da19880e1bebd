import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { EmbeddedPostgresRefused } from './postgres-binaries.ts'

/** As whom PostgreSQL's programs run. */
export type ServerIdentity = {
  /** The owner its files must have; undefined when we are no root and all is ours. */
  account: Account | undefined
  /** Programs and arguments to put before the program itself; often none. */
  prefix: readonly string[]
  /** For `spawn`. */
  ids: { uid?: number; gid?: number }
}

/** A user of the operating system. */
export type Account = { uid: number; gid: number }

/** All of the environment PostgreSQL gets: no secret of ours, and no PG* or locale of the shell. */
export const serverEnvironment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' }

const run = promisify(execFile)

/**
 * PostgreSQL refuses to run as root, so root hands it to the user `postgres` and makes that user
 * when the machine has none. `folders` are those the server works in. Where one lies below a
 * folder of root's that others may not enter (a clone in /root), the server keeps just the right
 * to read and search past permissions, if setpriv and the kernel allow it. Throws
 * EmbeddedPostgresRefused when no way is left.
 */
export async function serverIdentity(folders: readonly string[]): Promise<ServerIdentity> {
  if (process.getuid?.() !== 0) return { account: undefined, prefix: [], ids: {} }
  const account = (await findAccount()) ?? (await makeAccount())
  const closed = await firstClosedFolder(folders, account)
  if (closed === undefined) return { account, prefix: [], ids: account }
  const prefix = await searchingPrefix(folders, account)
  if (prefix !== undefined) return { account, prefix, ids: {} }
  throw new EmbeddedPostgresRefused(
    `${closed}: the user ${accountName} may not enter it, and PostgreSQL can not run as root. ` +
      `Allow it (chmod o+x ${closed}), move the folder, or run the service as another user`,
  )
}

const accountName = 'postgres'

async function findAccount(): Promise<Account | undefined> {
  try {
    const uid = Number((await run('id', ['-u', accountName])).stdout)
    const gid = Number((await run('id', ['-g', accountName])).stdout)
    return { uid, gid }
  } catch {
    return undefined
  }
}

/** Somebody else may be making the user at the same moment; then theirs is as good. */
async function makeAccount(): Promise<Account> {
  const failure = await run('useradd', ['--system', '--user-group', accountName]).then(
    () => undefined,
    (error: unknown) => error,
  )
  const account = await findAccount()
  if (account !== undefined) return account
  throw new EmbeddedPostgresRefused(
    `PostgreSQL can not run as root, and the user ${accountName} can not be made: make it, or ` +
      'run the service as another user',
    { cause: failure },
  )
}

/** The first of the folders or of those above them that the account may not enter. */
async function firstClosedFolder(
  folders: readonly string[],
  account: Account,
): Promise<string | undefined> {
  for (const folder of folders) {
    for (const path of [...foldersAbove(folder), folder]) {
      if (!mayEnter(await stat(path), account)) return path
    }
  }
  return undefined
}

function foldersAbove(path: string): string[] {
  const parent = dirname(path)
  return parent === path ? [] : [...foldersAbove(parent), parent]
}

function mayEnter(folder: { uid: number; gid: number; mode: number }, account: Account): boolean {
  if (folder.uid === account.uid) return (folder.mode & 0o100) !== 0
  if (folder.gid === account.gid) return (folder.mode & 0o010) !== 0
  return (folder.mode & 0o001) !== 0
}

/** Ordered by how little they give; a container often has only the second one. */
const capabilities = ['dac_read_search', 'dac_override']

async function searchingPrefix(
  folders: readonly string[],
  account: Account,
): Promise<readonly string[] | undefined> {
  for (const capability of capabilities) {
    const ids = [`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups']
    const keep = [`--inh-caps=-all,+${capability}`, `--ambient-caps=-all,+${capability}`]
    const prefix = ['setpriv', ...ids, ...keep, '--']
    if (await entersAll(prefix, folders)) return prefix
  }
  return undefined
}

async function entersAll(prefix: readonly string[], folders: readonly string[]): Promise<boolean> {
  const [file = '', ...before] = prefix
  const tries = folders.map((folder) => run(file, [...before, 'test', '-x', `${folder}/.`]))
  return (await Promise.allSettled(tries)).every((tried) => tried.status === 'fulfilled')
}
