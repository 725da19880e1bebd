import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseProjectId } from '../../src/model/project-id.ts'
import {
  migrateColumnar,
  openColumnar,
  startEmbeddedClickHouse,
} from '../../src/platform/columnar/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'

/**
 * `npm run bench:isolation`: what the filters of a project's statements cost. Each statement filters
 * by its project itself, as those of the product do, and runs with and without the second wall in
 * alternating order.
 */
const rows = 1_000_000
const projects = 20
const rounds = 60
const warmUps = 5

const logger = createLogger({ role: 'bench', level: 'silent' })
const directory = await mkdtemp(join(tmpdir(), 'looptrace-bench-isolation-'))
const server = await startEmbeddedClickHouse({ directory, logger })
const { url, username, password } = server
const columnar = openColumnar({
  url,
  username,
  password,
  database: 'bench',
  request_timeout_ms: 120_000,
  connections_max: 4,
  compression: false,
  logger,
})
await migrateColumnar({ columnar, logger })

/** The id of the project with a number below 10. */
const idOf = (number: number) => parseProjectId(`00000000-0000-4000-8000-00000000000${number}`)

await columnar.command(
  `INSERT INTO observations (project_id, trace_id, observation_id, type, name, start_time, end_time,
     status, task_id, model, input, input_uncached_tokens, cost_usd, message_id)
   SELECT toUUID(concat('00000000-0000-4000-8000-', leftPad(hex(number % {projects:UInt8}), 12, '0'))),
     toUUID(concat('00000000-0000-4000-8000-', leftPad(lower(hex(intDiv(number, 10 * {projects:UInt8}))), 12, '0'))),
     toString(number), 'generation', 'chat',
     now64(9) - INTERVAL intDiv(number, 12) SECOND, now64(9) - INTERVAL intDiv(number, 12) SECOND,
     if(number % 50 = 0, 'error', 'ok'), toString(intDiv(number, 200)), 'a-model',
     repeat(hex(sipHash64(number)), 20), number % 4096, toDecimal64(number % 97, 9), toString(number)
   FROM numbers({rows:UInt64})`,
  { rows, projects },
  { settings: { max_partitions_per_insert_block: 0 } },
)
await columnar.command('OPTIMIZE TABLE observations FINAL')

const statements = {
  'one trace with content': `SELECT * FROM observations WHERE project_id = {project:UUID}
    AND trace_id = toUUID('00000000-0000-4000-8000-000000000010') LIMIT 1000`,
  'the latest 50 of a list': `SELECT observation_id, name, status FROM observations
    WHERE project_id = {project:UUID} ORDER BY start_time DESC, trace_id, observation_id LIMIT 50`,
  'sums of all rows by status': `SELECT status, count(), sum(cost_usd), quantile(0.9)(input_uncached_tokens)
    FROM observations WHERE project_id = {project:UUID} GROUP BY status`,
  'sums of latest versions': `SELECT status, count() FROM (
      SELECT status FROM observations WHERE project_id = {project:UUID}
      ORDER BY ingested_at DESC LIMIT 1 BY start_time, trace_id, observation_id)
    GROUP BY status`,
}

const project = idOf(7)
const walls = {
  without: (sql: string) => columnar.read(sql, { project }),
  with: (sql: string) => columnar.ofProject(project).read(sql),
}

for (const [name, sql] of Object.entries(statements)) {
  const times: Record<keyof typeof walls, number[]> = { with: [], without: [] }
  const read: Partial<Record<keyof typeof walls, number>> = {}
  for (let round = 0; round < rounds + warmUps; round += 1) {
    const order = round % 2 === 0 ? (['with', 'without'] as const) : (['without', 'with'] as const)
    for (const wall of order) {
      const start_ms = performance.now()
      const { rows_read } = await walls[wall](sql)
      if (round >= warmUps) times[wall].push(performance.now() - start_ms)
      read[wall] = rows_read
    }
  }
  const [without, added] = [median(times.without), median(times.with)]
  console.log(
    `${name}: ${without.toFixed(2)} ms without, ${added.toFixed(2)} ms with, ratio ${(added / without).toFixed(2)}; rows read ${read.without} and ${read.with}`,
  )
}

await columnar.close()
await server.stop()
await rm(directory, { recursive: true, force: true })

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
