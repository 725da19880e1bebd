import { openRelational } from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { allTenants } from './all-tenants.ts'
import { eventually } from './eventually.ts'

/** Holds the worker in the middle of its batch until it is released. */
export type Held = { release(): Promise<void> }

const reached_ms_max = 20_000

/** Holds the worker between the insert of a batch and its roll-up; resolves when it is there. */
export async function holdBeforeRollUp(postgres_url: string): Promise<Held> {
  const relational = openRelational<unknown>({
    scope: allTenants,
    url: postgres_url,
    pool_max: 2,
    connect_timeout_ms: reached_ms_max,
    statement_timeout_ms: reached_ms_max,
    logger: createLogger({ role: 'test', level: 'fatal' }),
  })
  const client = await relational.pool.connect()
  await client.query('begin')
  await client.query('lock table tasks in exclusive mode')
  await eventually(
    'the roll-up of an inserted batch waits',
    async () => {
      const { rows } = await relational.pool.query(
        "select 1 from pg_locks where not granted and relation = 'tasks'::regclass",
      )
      return rows.length > 0
    },
    { timeout_ms: reached_ms_max, interval_ms: 20 },
  )
  return {
    release: async () => {
      await client.query('rollback')
      client.release()
      await relational.close()
    },
  }
}

/** Holds the worker in the insert itself: the store accepts the request and does not answer. */
export async function holdInsert(
  clickhouse_pid: number | undefined,
  untilInserting: () => Promise<void>,
): Promise<Held> {
  if (clickhouse_pid === undefined) throw new Error('ClickHouse does not run')
  process.kill(clickhouse_pid, 'SIGSTOP')
  await untilInserting()
  return {
    release: async () => {
      process.kill(clickhouse_pid, 'SIGCONT')
    },
  }
}
