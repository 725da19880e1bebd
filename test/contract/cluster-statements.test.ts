import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  type ObservationStore,
  openClickHouseLedgerStore,
  openClickHouseRecordStore,
  openClickHouseRetentionStore,
  openClickHouseStore,
  openHotSource,
  type RecordStore,
  type RetentionStore,
} from '../../src/capabilities/storage/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import type { ReplicaState } from '../../src/platform/columnar/cluster/fresh-reads.ts'
import {
  type ColumnarServer,
  migrateColumnar,
  openColumnar,
} from '../../src/platform/columnar/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { columnarOptions, testClickHouse } from '../support/clickhouse.ts'
import {
  type ClusterFront,
  openClusterFront,
  type SeenStatement,
  shardingKeys,
  twinCluster,
} from '../support/cluster-front.ts'
import { observationOf } from '../support/observations.ts'
import { entryOf, eventOf, rowsOf } from '../support/records.ts'

const start = 1_790_000_000_000_000_000n
const hour = 3_600_000_000_000n
const hour_ms = 3_600_000

let front: ClusterFront
let columnar: ColumnarServer
let stores: {
  store: ObservationStore
  people: ObservationStore
  records: RecordStore
  retention: RetentionStore
}

beforeAll(async () => {
  const twin = await testClickHouse('twin')
  front = await openClusterFront(twin.server_url ?? '')
  columnar = openColumnar({ ...columnarOptions(twin), url: front.url })
  stores = {
    store: openClickHouseStore({ columnar }),
    people: openClickHouseStore({ columnar, reads: columnar.forPeople() }),
    records: openClickHouseRecordStore({ columnar }),
    retention: openClickHouseRetentionStore({ columnar }),
  }
})
afterAll(async () => {
  await columnar?.close()
  await front?.close()
})
beforeEach(() => {
  Object.assign(front, { lag_ms: 0, decisions_lag: false, replicas: [] })
  front.statements.length = 0
})

/** Six observations of a user and a task, each in a trace of its own, so that both shards have some. */
async function sixTraces(given: Partial<Parameters<typeof observationOf>[0]> = {}) {
  const project_id = newId()
  const rows = Array.from({ length: 6 }, (_, at) =>
    observationOf({
      ...{ project_id, trace_id: newId(), observation_id: `o${at}`, user_id: 'ann' },
      start_time: start + BigInt(at) * hour,
      ...given,
    }),
  )
  await stores.store.insert(rows, { token: newId() })
  return { project_id, rows, trace_ids: rows.map(({ trace_id }) => trace_id).sort() }
}

const tasks = [{ task_id: 'task-1', from: start }]

/** The classes of statements that begin with a word, and read or change tables with rows. */
function classesOf(verb: string): unknown[] {
  const found = front.statements.filter(
    ({ text }) => text.trim().startsWith(verb) && !/\bsystem\./.test(text),
  )
  return [...new Set(found.map((statement) => statement.class ?? 'none'))]
}

test('the sharding keys of the front are those of the schema', async () => {
  const tables = await columnar.query<{ name: string; key: string }>(
    `SELECT name, extract(engine_full, '_local\\', (.*)\\)$') AS key FROM system.tables
     WHERE database = currentDatabase() AND engine = 'Distributed'`,
  )
  expect(Object.fromEntries(tables.map(({ name, key }) => [name, key]))).toEqual(shardingKeys)
})

describe('the settings of each statement are those of its class', () => {
  const settingsOf = ({ settings }: SeenStatement, ...names: string[]) =>
    names.map((name) => settings.get(name))

  test('inserts wait for a majority of the replicas of each shard', async () => {
    const { project_id, rows } = await sixTraces()
    const event = eventOf({ project_id, trace_id: rows[0]?.trace_id ?? '' })
    await stores.records.insertRows('events', rowsOf('events', [event]), { token: newId() })
    const ledger = openClickHouseLedgerStore({ columnar })
    await ledger.insertEntries([entryOf({ project_id })], { token: newId() })
    const inserts = front.statements.filter(({ text }) => text.startsWith('INSERT'))
    expect(inserts.length).toBeGreaterThanOrEqual(3)
    for (const insert of inserts) {
      const quorum = settingsOf(insert, 'insert_quorum', 'insert_quorum_parallel')
      expect([...quorum, insert.settings.has('insert_deduplication_token')]).toEqual([
        ...['auto', '1'],
        true,
      ])
      expect(settingsOf(insert, 'insert_distributed_sync', 'insert_deduplicate')).toEqual([
        '1',
        '1',
      ])
    }
  })

  test('reads decide unless they are for people', async () => {
    const { project_id } = await sixTraces()
    await stores.store.taskRollups(project_id, tasks)
    await stores.store.taskVersions(project_id, { tasks, limit: 10 })
    for await (const _ of openHotSource({ columnar }).observations({
      ...{ project_id, from: start, to: start + hour },
    }));
    await openClickHouseLedgerStore({ columnar }).closeHours({ hours_max: 10 })
    expect(classesOf('SELECT')).toEqual(['decision'])
    front.statements.length = 0
    await stores.people.taskRollups(project_id, tasks)
    expect(classesOf('SELECT')).toEqual(['people'])
  })

  test('deletion, erasure and changes of owners ask and change once, without a wait in the queue', async () => {
    const { project_id, rows, trace_ids } = await sixTraces()
    const { retention, people } = stores
    const first = rows[0]
    if (first === undefined) throw new Error('no row')
    await people.setOwners(project_id, [{ ...first, task_id: 'task-2' }])
    await people.eraseRows(project_id, { rows: [first], users: [] })
    const about = { project_id, user_id: 'ann', trace_ids, held_trace_ids: [] }
    await retention.eraseUser(about)
    expect(await retention.purgeUser?.(about)).toBe(true)
    const slice = { project_id, kind: 'observations', held_trace_ids: [] } as const
    await retention.deleteRows({ ...slice, from: start, to: start + 24n * hour })
    expect(classesOf('SELECT')).toEqual(['decision'])
    const changes = front.statements.filter(({ text }) => /^(?:ALTER|DELETE|UPDATE)/.test(text))
    expect(changes.length).toBeGreaterThan(2)
    for (const change of changes) {
      expect(change.text).toMatch(/^ALTER TABLE \w+_local ON CLUSTER `twin`/)
      expect(change.class).toBe('change')
      const waits = ['mutations_sync', 'distributed_ddl_output_mode']
      expect(settingsOf(change, ...waits)).toEqual(['0', 'null_status_on_timeout'])
    }
    expect(changes.map(({ text }) => text)).toEqual([...new Set(changes.map(({ text }) => text))])
  })

  test('a statement without a class is refused', async () => {
    const { server_url: _, ...twin } = await testClickHouse('twin')
    const single = openColumnar({ ...columnarOptions(twin), url: front.url, cluster: undefined })
    const read = single.ofProject(newId() as never).query('SELECT count() FROM observations')
    await expect(read).rejects.toThrow('class none')
    await single.close()
  })
})

describe('while people read a replica that lags', () => {
  beforeEach(() => {
    front.lag_ms = hour_ms
  })

  test('roll-ups and what detection reads are complete', async () => {
    const { project_id, rows } = await sixTraces()
    expect(await stores.people.taskRollups(project_id, tasks)).toEqual([])
    expect(await stores.store.taskRollups(project_id, tasks)).toMatchObject([{ observations: 6 }])
    const versions = await stores.store.taskVersions(project_id, { tasks, limit: 10 })
    expect(versions).toHaveLength(6)
    const found = await stores.store.observationsAt(project_id, rows)
    expect(found).toHaveLength(6)
  })

  test('an erasure finds, deletes and counts every row', async () => {
    const { project_id, trace_ids } = await sixTraces()
    const { retention } = stores
    const user = { project_id, user_id: 'ann' }
    expect(await retention.tracesOfUser?.({ ...user, after: '' })).toEqual(trace_ids)
    expect(await retention.countUser({ ...user, trace_ids })).toContainEqual({
      ...{ kind: 'observations', rows: 6 },
    })
    await retention.eraseUser({ ...user, trace_ids, held_trace_ids: [] })
    expect(await retention.tracesOfUser?.({ ...user, after: '' })).toEqual([])
    front.lag_ms = 0
    expect(await stores.people.taskRollups(project_id, tasks)).toEqual([])
  })

  test('retention counts and deletes every row', async () => {
    const { project_id } = await sixTraces()
    const slice = { project_id, kind: 'observations', held_trace_ids: [] } as const
    const window = { from: start, to: start + 3n * hour }
    const asked = { project_id, kind: 'observations', with_content: false } as const
    const census = await stores.retention.census({
      ...{ ...asked, before: window.to, environments: [] },
    })
    expect(census.map(({ rows }) => rows)).toEqual([3])
    await stores.retention.deleteRows({ ...slice, ...window })
    front.lag_ms = 0
    expect(await stores.people.taskRollups(project_id, tasks)).toMatchObject([{ observations: 3 }])
  })
})

describe('while a replica that lags would answer a read that decides', () => {
  const replica = (name: string, log_pointer: number): ReplicaState => ({
    ...{ path: '/1/observations_local', replica: name, replicas: 3, log_pointer },
    ...{ log_max_index: 7, inserts_in_queue: 0, oldest_s: 0, delay_s: 1, is_cut_off: 0, now_s: 9 },
  })
  const behind = [replica('a', 8), replica('b', 3), replica('c', 8)]
  const caughtUp = behind.map((state) => ({ ...state, log_pointer: 8 }))

  test('nothing is reported as done before it has caught up', async () => {
    const { project_id, trace_ids } = await sixTraces()
    Object.assign(front, { lag_ms: hour_ms, decisions_lag: true, replicas: behind })
    const { retention, store } = stores
    const about = { project_id, user_id: 'ann', trace_ids, held_trace_ids: [] }
    const slice = { project_id, kind: 'observations', held_trace_ids: [] } as const
    const works = [
      retention.tracesOfUser?.({ ...about, after: '' }),
      retention.eraseUser(about),
      retention.purgeUser?.(about),
      retention.deleteRows({ ...slice, from: start, to: start + 6n * hour }),
      store.taskRollups(project_id, tasks),
      store.taskVersions(project_id, { tasks, limit: 10 }),
    ]
    const ended = await Promise.allSettled(works)
    expect(ended.map(({ status }) => status)).toEqual(works.map(() => 'rejected'))
    for (const one of ended) {
      expect(one).toMatchObject({ reason: { code: 'store_unavailable' } })
    }
    Object.assign(front, { lag_ms: 0, decisions_lag: false, replicas: caughtUp })
    expect(await store.taskRollups(project_id, tasks)).toMatchObject([{ observations: 6 }])
    await retention.eraseUser(about)
    expect(await retention.tracesOfUser?.({ ...about, after: '' })).toEqual([])
  }, 60_000)

  test('without the wait, an erasure would report rows as gone that are there', async () => {
    const { project_id, trace_ids } = await sixTraces()
    Object.assign(front, { lag_ms: hour_ms, decisions_lag: true })
    const about = { project_id, user_id: 'ann', trace_ids, held_trace_ids: [] }
    expect(await stores.retention.tracesOfUser?.({ ...about, after: '' })).toEqual([])
    await stores.retention.eraseUser(about)
    front.decisions_lag = false
    expect(await stores.retention.tracesOfUser?.({ ...about, after: '' })).toEqual(trace_ids)
  })
})

describe('a new pod', () => {
  test('sends no statement that waits for other servers if the schema is there', async () => {
    const logger = createLogger({ role: 'test', level: 'silent' })
    const status = await migrateColumnar({ columnar, cluster: twinCluster, logger })
    expect(status.pending).toEqual([])
    expect(front.statements.filter(({ text }) => /ON CLUSTER/i.test(text))).toEqual([])
  })
})
