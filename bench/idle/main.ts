import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { startCluster } from '../../test/support/cluster.ts'
import { restartableService } from '../../test/support/restartable-service.ts'
import { startSingleMachine } from '../../test/support/single-machine.ts'
import { queuedJobLatencies } from './queued-jobs.ts'

/** After the start: what follows one, such as the first look of every chore, is over. */
const settle_s = Number(process.env['SETTLE_S'] ?? 30)
const measure_s = Number(process.env['MEASURE_S'] ?? 60)
const jobs = 10

/** A measured shape: transactions of the database a second, and the latency of queued jobs. */
type IdleRow = {
  shape: string
  transactions_per_s: number
  job_latency_ms_max: number
}

/**
 * `npm run bench -- idle`: counts the transactions of PostgreSQL (`pg_stat_database`) while nothing
 * uses the service, in the shape of a cluster (2 workers, 2 APIs, 2 proxies) and in role `all`, and
 * the statements that ran most often in the cluster. SETTLE_S and MEASURE_S set the seconds.
 */
export async function printIdle(): Promise<void> {
  console.table([await measureCluster()])
  console.table([await measureSingle()])
}

async function measureCluster(): Promise<IdleRow> {
  await using cluster = await startCluster({
    env: { LOOPTRACE_SECRET_KEY: 'a secret key of the benchmark, long enough' },
    postgres_settings: { shared_preload_libraries: 'pg_stat_statements' },
  })
  const others = ['worker', 'api', 'proxy'].map((role) =>
    restartableService(role, {
      ...cluster.env,
      LOOPTRACE_DATA_DIRECTORY: `${cluster.directory}/second-proxy`,
    }),
  )
  await Promise.all(others.map((role) => role.start()))
  try {
    const { url } = cluster.postgres.server()
    return await measure('2 workers, 2 APIs, 2 proxies', url, cluster.login.project_id)
  } finally {
    await Promise.all(others.map((role) => role.stop()))
  }
}

async function measureSingle(): Promise<IdleRow> {
  await using machine = await startSingleMachine({ first: true })
  const { project_id } = machine.login
  // With a queue in a file and embedded servers.
  return await measure('role all, embedded', await machine.postgresUrl(), project_id)
}

async function measure(shape: string, url: string, project_id: string): Promise<IdleRow> {
  const client = new pg.Client({ connectionString: url })
  // The server ends the connection when a failed measurement stops it.
  client.on('error', () => undefined)
  await client.connect()
  try {
    await sleep(settle_s * 1_000)
    const hasStatements = await resetStatements(client)
    const start = await readCounts(client)
    await sleep(measure_s * 1_000)
    const end = await readCounts(client)
    const transactions_per_s = (end.transactions - start.transactions) / (end.at_s - start.at_s)
    if (hasStatements) await printStatements(client)
    const latencies = await queuedJobLatencies(client, { project_id, jobs })
    return {
      shape,
      transactions_per_s: Number(transactions_per_s.toFixed(2)),
      job_latency_ms_max: Math.max(...latencies),
    }
  } finally {
    await client.end()
  }
}

async function readCounts(client: pg.Client): Promise<{ transactions: number; at_s: number }> {
  // Sessions report their counts at most once a second.
  await sleep(1_500)
  const { rows } = await client.query<{ transactions: number; at_s: number }>(`
    select (xact_commit + xact_rollback)::float8 as transactions,
      extract(epoch from clock_timestamp())::float8 as at_s
    from pg_stat_database where datname = current_database()`)
  const [row] = rows
  if (row === undefined) throw new Error('pg_stat_database has no row of this database')
  return row
}

async function resetStatements(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query('show shared_preload_libraries')
  if (!String(rows[0]?.shared_preload_libraries).includes('pg_stat_statements')) return false
  await client.query('create extension if not exists pg_stat_statements')
  await client.query('select pg_stat_statements_reset()')
  return true
}

async function printStatements(client: pg.Client): Promise<void> {
  const { rows } = await client.query(`
    select round(calls / ${measure_s}.0, 2)::float8 as per_s,
      left(regexp_replace(query, '\\s+', ' ', 'g'), 100) as statement
    from pg_stat_statements where query not like 'select set_config%'
    order by calls desc limit 40`)
  console.table(rows)
}
