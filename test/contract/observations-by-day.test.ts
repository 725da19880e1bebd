import { afterEach, beforeEach, expect, test } from 'vitest'
import { openClickHouseStore } from '../../src/capabilities/storage/clickhouse/store.ts'
import { migratedClickHouse, testClickHouse } from '../support/clickhouse.ts'
import { observationOf } from '../support/observations.ts'

const project_id = '0198c0de-0000-7000-8000-0000000000aa'
const day_ns = 86_400_000_000_000n
let parts: AsyncDisposableStack

beforeEach(() => {
  parts = new AsyncDisposableStack()
})
afterEach(() => parts.disposeAsync())

test('a batch of 130 days and absurd clocks is stored, a partition for each day or year', async () => {
  const columnar = await migratedClickHouse(await testClickHouse('own'))
  parts.defer(() => columnar.close())
  const first = BigInt(Date.UTC(2025, 0, 1)) * 1_000_000n
  const days = Array.from({ length: 130 }, (_, day) => first + BigInt(day) * day_ns)
  const absurd = [1905, 1905.5, 2023, 2040, 2200].map(
    (year) => BigInt(Date.UTC(Math.floor(year), (year % 1) * 12)) * 1_000_000n,
  )
  const observations = [...days, ...absurd].map((start_time, at) =>
    observationOf({ project_id, start_time, observation_id: `o-${at}` }),
  )
  const store = openClickHouseStore({ columnar })
  await store.insert(observations, { token: 'one batch' })
  const found = await columnar.query<{ partition: string; rows: string }>(
    `SELECT _partition_id AS partition, count() AS rows FROM observations
     GROUP BY partition ORDER BY partition`,
  )
  const ids = found.map(({ partition }) => partition)
  const dates = days.map((ns) => new Date(Number(ns / 1_000_000n)).toISOString().slice(0, 10))
  const expected = [
    ...dates.map((date) => date.replaceAll('-', '')),
    '1905',
    '2023',
    '2040',
    '2200',
  ]
  expect(ids).toEqual(expected.toSorted())
  expect(found.find(({ partition }) => partition === '1905')?.rows).toBe('2')
})
