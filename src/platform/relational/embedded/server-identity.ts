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
type Account = { uid: number; gid: number }

/** All of the environment PostgreSQL gets: no secret of ours, and no PG* or locale of the shell. */
export const serverEnvironment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' }

const run = promisify(execFile)

/**
 * PostgreSQL refuses to run as root, so root hands it to the user `postgres` and makes that user
 * when the machine has none. `paths` are the folders to enter and programs to run. Where one lies
 * below a folder of root's that others may not enter (a clone in /root), the server keeps just
 * the right to pass such folders, if setpriv and the kernel allow it. Throws
 * EmbeddedPostgresRefused when no way is left.
 */
export async function serverIdentity(paths: readonly string[]): Promise<ServerIdentity> {
  if (process.getuid?.() !== 0) return { account: undefined, prefix: [], ids: {} }
  const account = (await findAccount()) ?? (await makeAccount())
  const closed = await firstClosed(paths, account)
  if (closed === undefined) return { account, prefix: [], ids: account }
  const prefix = await passingPrefix(paths, account)
  if (prefix !== undefined) return { account, prefix, ids: {} }
  throw new EmbeddedPostgresRefused(
    `${closed}: the user ${accountName} may not pass it, and PostgreSQL can not run as root. ` +
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

/** The first of the paths, or of the folders above them, that the account may not pass. */
async function firstClosed(
  paths: readonly string[],
  account: Account,
): Promise<string | undefined> {
  for (const path of paths.flatMap((path) => [...foldersAbove(path), path])) {
    if (!mayPass(await stat(path), account)) return path
  }
  return undefined
}

function foldersAbove(path: string): string[] {
  const parent = dirname(path)
  return parent === path ? [] : [...foldersAbove(parent), parent]
}

function mayPass(path: { uid: number; gid: number; mode: number }, account: Account): boolean {
  if (path.uid === account.uid) return (path.mode & 0o100) !== 0
  if (path.gid === account.gid) return (path.mode & 0o010) !== 0
  return (path.mode & 0o001) !== 0
}

/** Ordered by how little they give; a container often has only the second one. */
const capabilities = ['dac_read_search', 'dac_override']

/**
 * Without `no_setuid_fixup` the call access(2), by which PostgreSQL looks at its own programs,
 * leaves the capability out of account.
 */
async function passingPrefix(
  paths: readonly string[],
  account: Account,
): Promise<readonly string[] | undefined> {
  for (const capability of capabilities) {
    const ids = [`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups']
    const keep = [`--inh-caps=-all,+${capability}`, `--ambient-caps=-all,+${capability}`]
    const prefix = ['setpriv', ...ids, ...keep, '--securebits=+no_setuid_fixup', '--']
    if (await passesAll(prefix, paths)) return prefix
  }
  return undefined
}

async function passesAll(prefix: readonly string[], paths: readonly string[]): Promise<boolean> {
  const [file = '', ...before] = prefix
  const tries = paths.map((path) => run(file, [...before, 'test', '-x', path]))
  return (await Promise.allSettled(tries)).every((tried) => tried.status === 'fulfilled')
}
