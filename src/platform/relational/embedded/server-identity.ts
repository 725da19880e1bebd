import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { EmbeddedPostgresRefused } from './postgres-binaries.ts'

/** The account and prefix that PostgreSQL's programs run with. */
export type ServerIdentity = {
  /** Required owner of the files; undefined when this process is not root and owns them. */
  account: Account | undefined
  /** Programs and arguments before the program itself; usually empty. */
  prefix: readonly string[]
  /** For `spawn`. */
  ids: { uid?: number; gid?: number }
}

/** A user of the operating system. */
type Account = { uid: number; gid: number }

/** The whole environment of PostgreSQL, without secrets, PG* variables or the shell's locale. */
export const serverEnvironment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' }

const run = promisify(execFile)

/**
 * Chooses the account for PostgreSQL, which does not run as root: root runs it as the user
 * `postgres`, and creates that user if needed. `paths` are the folders and programs that the server
 * must reach. If one is below a folder that only root may enter (a clone in /root), the server
 * keeps only the capability to pass such folders, if setpriv and the kernel allow it. Throws
 * EmbeddedPostgresRefused when PostgreSQL cannot run.
 */
export async function serverIdentity(paths: readonly string[]): Promise<ServerIdentity> {
  if (process.getuid?.() !== 0) return { account: undefined, prefix: [], ids: {} }
  const account = (await findAccount()) ?? (await makeAccount())
  const closed = await firstClosed(paths, account)
  if (closed === undefined) return { account, prefix: [], ids: account }
  const prefix = await passingPrefix(paths, account)
  if (prefix !== undefined) return { account, prefix, ids: {} }
  throw new EmbeddedPostgresRefused(
    `${closed}: the user ${accountName} may not enter it, and PostgreSQL cannot run as root. ` +
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

/** Creates the user. Another process may create it at the same time, which is fine. */
async function makeAccount(): Promise<Account> {
  const failure = await run('useradd', ['--system', '--user-group', accountName]).then(
    () => undefined,
    (error: unknown) => error,
  )
  const account = await findAccount()
  if (account !== undefined) return account
  throw new EmbeddedPostgresRefused(
    `PostgreSQL cannot run as root, and creating the user ${accountName} failed: create it, or ` +
      'run the service as another user',
    { cause: failure },
  )
}

/** Finds the first path, or folder above a path, that the account may not pass. */
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

/** Capabilities, weakest first. A container often has only the second. */
const capabilities = ['dac_read_search', 'dac_override']

/**
 * Finds the `setpriv` prefix that passes all paths. Without `no_setuid_fixup`, access(2), with
 * which PostgreSQL checks its own programs, ignores the capability.
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
