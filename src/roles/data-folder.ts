import { randomBytes } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { mintGivenSecrets } from '../capabilities/access/index.ts'
import { startEmbeddedClickHouse } from '../platform/columnar/index.ts'
import {
  ConfigError,
  type RoleConfig,
  readSettingFile,
  SettingFileRefused,
  type Settings,
} from '../platform/config/index.ts'
import {
  assertUsable,
  FolderInUse,
  FolderUnusable,
  folderFailure,
  lockFolder,
  makeFolder,
} from '../platform/folders/index.ts'
import { startEmbeddedPostgres } from '../platform/relational/index.ts'
import type { RoleContext } from './running.ts'

/** The data folder cannot be used. The message says why, and what to do. */
class DataFolderRefused extends Error {
  override readonly name = 'DataFolderRefused'
}

const pidFile = 'service.pid'

/**
 * Creates the data folder if it is missing, and locks it until the role ends. Throws
 * DataFolderRefused when it is not writable, its disk is nearly full, or another process uses it.
 */
export async function takeDataFolder(
  { parts }: Pick<RoleContext, 'parts'>,
  config: Settings<'folder' | 'embedded'>,
): Promise<void> {
  const folder = resolve(config.data_directory)
  await makeFolder(folder)
  await assertUsable(folder, { free_bytes_min: config.data_free_bytes_min })
  parts.defer(await lock(folder))
  await writeFile(join(folder, pidFile), `${process.pid}\n`)
  parts.defer(() => rm(join(folder, pidFile), { force: true }))
}

async function lock(folder: string): Promise<() => void> {
  try {
    return lockFolder(folder)
  } catch (cause) {
    if (!(cause instanceof FolderInUse)) throw cause
    const noted = (await readOptionalFile(join(folder, pidFile))) ?? ''
    const pid = /^\d+$/.test(noted.trim()) ? `process ${noted.trim()}` : 'another process'
    const advice = `Stop it first, or set LOOPTRACE_DATA_DIRECTORY to another folder.`
    throw new DataFolderRefused(`${folder} is in use by ${pid}. ${advice}`, { cause })
  }
}

/** Reads a file of the data folder, or returns undefined when it is missing. */
export async function readOptionalFile(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
}

/** Returns a handler that adds advice to failures of the data folder. Rethrows other errors. */
export function explainFolder(data_directory: string): (error: unknown) => never {
  return (error) => {
    const failure =
      error instanceof FolderUnusable ? error : folderFailure(error, resolve(data_directory))
    if (failure === undefined) throw error
    throw new DataFolderRefused(`${failure.message}. ${adviceFor(failure)}.`, { cause: failure })
  }
}

function adviceFor({ fault }: FolderUnusable): string {
  const advice = 'Set LOOPTRACE_DATA_DIRECTORY to another folder'
  switch (fault) {
    case 'full':
      return 'Free some space, or set LOOPTRACE_DATA_DIRECTORY to a folder on another disk'
    case 'denied':
      return `${advice}, or give user ${process.getuid?.()} write permission`
    default:
      return advice
  }
}

/** File in the data folder, mode 0600, with the key for an operator beside role `all`. */
export const operatorKeyFile = 'operator-key'

/** File in the data folder, mode 0600, with the key that encrypts the token-signing keys. */
export const secretKeyFile = 'secret-key'

/**
 * Reads the operator's key from the setting or its file; undefined when neither is set. Throws
 * `ConfigError` when both are set or the file can't be read.
 */
export async function readConfiguredOperatorKey(
  config: Settings<'operator_key'>,
): Promise<string | undefined> {
  const { operator_key, operator_key_file: path } = config
  if (path === undefined) return operator_key
  if (operator_key !== undefined) {
    throw new ConfigError(
      'LOOPTRACE_OPERATOR_KEY and LOOPTRACE_OPERATOR_KEY_FILE: got both, set only one',
    )
  }
  try {
    return readSettingFile(path)?.trim()
  } catch (cause) {
    if (!(cause instanceof SettingFileRefused)) throw cause
    throw new ConfigError(`LOOPTRACE_OPERATOR_KEY_FILE: ${cause.message}`, { cause })
  }
}

/**
 * Returns the configured operator key, or a key that is generated on the first start and kept in a
 * file.
 */
export async function readOperatorKey(
  config: Settings<'operator_key' | 'folder'>,
): Promise<string> {
  const given = await readConfiguredOperatorKey(config)
  if (given !== undefined) return given
  await makeFolder(config.data_directory)
  const path = join(config.data_directory, operatorKeyFile)
  const known = await readOptionalFile(path)
  if (known !== undefined) return known.trim()
  const { operator_key } = mintGivenSecrets()
  // Write atomically, so that a kill does not leave half a key.
  await writeFile(`${path}.new`, `${operator_key}\n`, { mode: 0o600, flush: true })
  await rename(`${path}.new`, path)
  return operator_key
}

/**
 * Returns the key that encrypts the token-signing keys: the setting, or a key that is generated on
 * the first start and kept in a file of mode 0600.
 */
export async function readSecretKey(config: Settings<'secret' | 'folder'>): Promise<string> {
  if (config.secret_key !== undefined) return config.secret_key
  const path = join(config.data_directory, secretKeyFile)
  const known = await readOptionalFile(path)
  if (known !== undefined) return known.trim()
  const made = randomBytes(32).toString('base64url')
  await writeFile(path, `${made}\n`, { mode: 0o600, flag: 'wx' })
  return made
}

type AllConfig = RoleConfig<'all'>

/**
 * Starts an embedded server for each store without a configured URL, and returns the configuration
 * with their addresses. The servers stop last when the role ends. `postgres_settings` override the
 * defaults of the embedded PostgreSQL.
 */
export async function startServers(
  context: RoleContext,
  config: AllConfig,
  postgres_settings: Readonly<Record<string, string>> = {},
): Promise<AllConfig & { blobs_url: string }> {
  const embedded = [
    ...(config.postgres_url === undefined ? ['PostgreSQL'] : []),
    ...(config.clickhouse_url === undefined ? ['ClickHouse'] : []),
  ]
  const { data_directory } = config
  if (embedded.length > 0)
    context.logger.info({ data_directory }, `starting ${embedded.join(' and ')}`)
  // If one server fails to start, the start of the other is aborted.
  const other = new AbortController()
  const signal = AbortSignal.any([context.stop, other.signal])
  const starts = [
    config.postgres_url === undefined
      ? startPostgres(context, config, { settings: postgres_settings, signal })
      : {},
    config.clickhouse_url === undefined ? startClickHouse(context, config, signal) : {},
  ] as const
  try {
    const [postgres, clickhouse] = await Promise.all(starts)
    return { ...config, ...postgres, ...clickhouse, blobs_url: archivesUrl(config) }
  } catch (error) {
    other.abort()
    await Promise.allSettled(starts)
    throw error
  }
}

async function startPostgres(
  { logger, metrics, parts, fail }: RoleContext,
  config: AllConfig,
  options: { settings: Readonly<Record<string, string>>; signal: AbortSignal },
) {
  const restarts = restartCounter(metrics, 'postgres')
  const server = await startEmbeddedPostgres({
    directory: join(config.data_directory, 'postgres'),
    on_restart: restarts,
    ...options,
    logger,
  })
  parts.defer(() => server.stop())
  server.stopped.then((error) => error && fail(error))
  return { postgres_url: server.url }
}

async function startClickHouse(
  { logger, metrics, parts }: RoleContext,
  config: AllConfig,
  signal: AbortSignal,
) {
  const restarts = restartCounter(metrics, 'clickhouse')
  const server = await startEmbeddedClickHouse({
    directory: join(config.data_directory, 'clickhouse'),
    on_restart: restarts,
    signal,
    logger,
  })
  parts.defer(() => server.stop())
  return {
    clickhouse_url: server.url,
    clickhouse_username: server.username,
    clickhouse_password: server.password,
  }
}

/** Registers the counter of restarts of an embedded server. */
export function restartCounter(
  metrics: RoleContext['metrics'],
  server: 'postgres' | 'clickhouse',
): () => void {
  const counter = metrics.counter({
    name: `looptrace_embedded_${server}_restarts_total`,
    help: `Restarts of the embedded ${server} after it died.`,
  })
  return () => counter.inc()
}

/** Returns the URL of archives: the setting, or a folder in the data folder. */
function archivesUrl(config: Settings<'blobs' | 'folder'>): string {
  return config.blobs_url ?? String(pathToFileURL(resolve(join(config.data_directory, 'blobs'))))
}
