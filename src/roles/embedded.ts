import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startEmbeddedClickHouse } from '../platform/columnar/index.ts'
import type { RoleConfig } from '../platform/config/index.ts'
import { startEmbeddedPostgres } from '../platform/relational/index.ts'
import type { RoleContext } from './running.ts'

type AllConfig = RoleConfig<'all'>

/**
 * Starts an embedded server for each store without a configured URL, and returns the configuration
 * with their addresses. The servers stop last when the role ends.
 */
export async function startServers(context: RoleContext, config: AllConfig): Promise<AllConfig> {
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
    config.postgres_url === undefined ? startPostgres(context, config, signal) : {},
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
function archivesUrl(config: Pick<RoleConfig<'all'>, 'blobs_url' | 'data_directory'>): string {
  return config.blobs_url ?? String(pathToFileURL(resolve(join(config.data_directory, 'blobs'))))
}
