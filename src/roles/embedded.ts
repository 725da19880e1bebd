import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startEmbeddedClickHouse } from '../platform/columnar/index.ts'
import type { RoleConfig } from '../platform/config/index.ts'
import { startEmbeddedPostgres } from '../platform/relational/index.ts'
import { blobsUrlOf } from './archives.ts'
import { readIfThere } from './data-folder.ts'
import type { RoleContext } from './running.ts'

type AllConfig = RoleConfig<'all'>

/**
 * Starts a server for each store that the configuration names none for, and answers the
 * configuration with their addresses. They stop when the role ends, after everything else.
 */
export async function startServers(context: RoleContext, config: AllConfig): Promise<AllConfig> {
  const embedded = [
    ...(config.postgres_url === undefined ? ['PostgreSQL'] : []),
    ...(config.clickhouse_url === undefined ? ['ClickHouse'] : []),
  ]
  const about = { data_directory: config.data_directory }
  if (embedded.length > 0) context.logger.info(about, `starting ${embedded.join(' and ')}`)
  // When one of them does not start, the other one is not left alone on its way up.
  const other = new AbortController()
  const signal = AbortSignal.any([context.stop, other.signal])
  const starts = [
    config.postgres_url === undefined ? postgresIn(context, config, signal) : {},
    config.clickhouse_url === undefined ? clickHouseIn(context, config, signal) : {},
  ] as const
  try {
    const [postgres, clickhouse] = await Promise.all(starts)
    return { ...config, ...postgres, ...clickhouse, blobs_url: blobsUrlOf(config) }
  } catch (error) {
    other.abort()
    await Promise.allSettled(starts)
    throw error
  }
}

async function postgresIn(
  { logger, metrics, parts, fail }: RoleContext,
  config: AllConfig,
  signal: AbortSignal,
) {
  const restarts = restartCounter(metrics, 'postgres')
  const server = await startEmbeddedPostgres({
    directory: join(config.data_directory, 'postgres'),
    on_restart: restarts,
    signal,
    logger,
  })
  parts.defer(() => server.stop())
  server.stopped.then((error) => error && fail(error))
  return { postgres_url: server.url }
}

async function clickHouseIn(
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

/** Counts the restarts of a server that the role started. */
export function restartCounter(
  metrics: RoleContext['metrics'],
  server: 'postgres' | 'clickhouse',
): () => void {
  const counter = metrics.counter({
    name: `looptrace_embedded_${server}_restarts_total`,
    help: `Times the embedded ${server} died and was started again.`,
  })
  return () => counter.inc()
}

/**
 * The key that seals the token-signing keys: the one that is set, else one of our own in a file of
 * mode 0600, made at the first start.
 */
export async function secretKeyOf(config: AllConfig): Promise<string> {
  if (config.secret_key !== undefined) return config.secret_key
  const path = join(config.data_directory, 'secret-key')
  const known = await readIfThere(path)
  if (known !== undefined) return known.trim()
  const made = randomBytes(32).toString('base64url')
  await writeFile(path, `${made}\n`, { mode: 0o600, flag: 'wx' })
  return made
}
