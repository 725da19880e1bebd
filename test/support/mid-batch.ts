import type { Columnar } from '../../src/platform/columnar/index.ts'
import { openRelational } from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { eventually } from './eventually.ts'

/** What holds the worker in the middle of its batch until it is let go. */
export type Held = { release(): Promise<void> }

const reached_ms_max = 20_000

/** Holds the worker between the insert of a batch and its roll-up; resolves when it is there. */
export async function holdBeforeRollUp(postgres_url: string, columnar: Columnar): Promise<Held> {
  const relational = openRelational<unknown>({
    url: postgres_url,
    pool_max: 1,
    connect_timeout_ms: reached_ms_max,
    statement_timeout_ms: reached_ms_max,
    logger: createLogger({ role: 'test', level: 'fatal' }),
  })
  const client = await relational.pool.connect()
  await client.query('begin')
  await client.query('lock table tasks in exclusive mode')
  const before = await rowsIn(columnar)
  await eventually(
    'a batch is inserted, and its roll-up waits',
    async () => (await rowsIn(columnar)) > before,
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

/** Holds the worker in the insert itself: the store takes the request and does not answer. */
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

async function rowsIn(columnar: Columnar): Promise<number> {
  const [row] = await columnar.query<{ rows: string }>('select count() as rows from observations')
  return Number(row?.rows)
}
