import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { groupKey } from '../../src/capabilities/incidents/evaluation/groups.ts'
import { openSignals } from '../../src/capabilities/incidents/signals/open-signals.ts'
import { type Rule } from '../../src/capabilities/incidents/rules/rule.ts'
import {
  openClickHouseLedgerStore,
  openClickHouseStore,
} from '../../src/capabilities/storage/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import type { Columnar } from '../../src/platform/columnar/index.ts'
import {
  type DetectionTables,
  openRelational,
  type Relational,
  type TaskTables,
} from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { migratedClickHouse } from '../support/clickhouse.ts'
import { naiveSamples } from '../support/incidents/naive-signals.ts'
import {
  end_ms,
  entriesOf,
  idle_ms,
  measuredRules,
  naiveRowsOf,
  observationsOf,
  type SignalData,
  signalData,
  taskRowsOf,
} from '../support/incidents/signal-data.ts'
import { testPostgres } from '../support/postgres.ts'

let columnar: Columnar
let relational: Relational<TaskTables & DetectionTables>

beforeAll(async () => {
  columnar = await migratedClickHouse()
  // Versions must exist side by side until a test is done with them.
  await columnar.command('SYSTEM STOP MERGES observations')
  relational = openRelational({
    url: await testPostgres(),
    ...{ pool_max: 6, connect_timeout_ms: 5_000, statement_timeout_ms: 30_000 },
    logger: createLogger({ role: 'test', level: 'silent' }),
  })
})
afterAll(() => Promise.all([columnar?.close(), relational?.close()]))

const queue = {
  stats: async () => ({ pending: 0, pending_bytes: 0, dead: 0, oldest_age_ms: 0 }),
}
const clock = { now_ms: () => Date.now() }

function open() {
  const ledger = openClickHouseLedgerStore({ columnar })
  return openSignals({ relational, columnar, ledger, queue, clock, idle_ms })
}

async function store(project_id: string, data: SignalData): Promise<void> {
  const observations = openClickHouseStore({ columnar })
  for (const batch of observationsOf(project_id, data)) {
    await observations.insert(batch, { token: newId() })
  }
  const { tasks, findings } = taskRowsOf(project_id, data)
  await relational.db.insertInto('tasks').values(tasks as never).execute()
  if (findings.length > 0) {
    await relational.db.insertInto('findings').values(findings as never).execute()
  }
  const ledger = openClickHouseLedgerStore({ columnar })
  await ledger.insertEntries(entriesOf(project_id, data), { token: newId() })
}

/** Measures rules at some slots, and compares each sample with the naive one. */
async function compare(project_id: string, data: SignalData, rules: readonly Rule[]) {
  const slots = rules.flatMap((rule, at) =>
    [0, 60_000, 5 * 60_000].map((before_ms) => ({
      ...{ rule_id: `r${at}`, rule, end_ms: end_ms - before_ms },
    })),
  )
  const measured = await open().measure({ project_id, slots, lag_ms: 7 })
  expect(measured).toHaveLength(slots.length)
  const rows = naiveRowsOf(data)
  for (const one of measured) {
    if ('error' in one) throw new Error(`${one.error} ${JSON.stringify(one.rule)}`)
    const expected = naiveSamples(rows, { rule: one.rule, end_ms: one.end_ms, lag_ms: 7 })
    const got = new Map(one.groups.map(({ group, sample }) => [groupKey(group), sample]))
    const about = JSON.stringify(one.rule)
    expect([...got.keys()].toSorted(), about).toEqual([...expected.keys()].toSorted())
    for (const [key, sample] of expected) {
      expect(rounded(got.get(key)), `${about} ${key}`).toEqual(rounded(sample))
    }
    expect(one.others).toBe(0)
  }
}

/** Sums of floating-point numbers differ by their order; scores are rounded to 4 digits. */
function rounded(value: unknown): unknown {
  if (typeof value === 'number') return Number(value.toFixed(2))
  if (Array.isArray(value)) {
    const list = value.map(rounded)
    return typeof list[0] === 'number' ? list.toSorted() : list
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, rounded(one)]))
}

test('samples are those of a naive computation, also for hostile values and repeated rows', async () => {
  const rules = fc.array(measuredRules, { minLength: 60, maxLength: 60, size: 'max' })
  await fc.assert(
    fc.asyncProperty(signalData, signalData, rules, async (data, neighbour, asked) => {
      const project_id = newId()
      await store(newId(), neighbour)
      await store(project_id, data)
      await compare(project_id, data, asked)
    }),
    { numRuns: 4, endOnFailure: true },
  )
}, 120_000)
