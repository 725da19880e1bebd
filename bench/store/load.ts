import { setTimeout as sleep } from 'node:timers/promises'
import type { ColumnarServer } from '../../src/platform/columnar/index.ts'
import { readCorpus } from './corpus.ts'
import type { BenchEngine } from './engine.ts'
import { insertGenerated, span, traceRows } from './generated-rows.ts'

/** The course of filling the table, and its final contents. */
export type LoadFacts = {
  rows: number
  /** Rows that were stored a second time. */
  sent_again: number
  took_s: number
  /** Processor time of ClickHouse per row, including generating and merging. */
  cpu_us: number
  bytes_per_row: number
  raw_bytes_per_row: number
  parts: number
  partitions: number
}

/** Rows of the last minutes, in inserts as small as the worker's. */
const recentInserts = 5
const recentInsertRows = 10_000
const mergePollMs = 500
const maxMergeWaitMs = 900_000

/**
 * Fills `observations` with a month in time order. One row in a hundred is sent again on the same
 * day. Days are left as two hours without an insert leave them; the last minutes are unmerged, and
 * those inserts repeat rows of the last days.
 */
export async function load(engine: BenchEngine, rows: number): Promise<LoadFacts> {
  const { columnar } = engine
  const start_ms = performance.now()
  const cpu_ms = await engine.cpu_ms()
  await storeCorpus(columnar)
  const insert = inserter(columnar, rows)
  const step = Math.min(recentInsertRows, Math.floor(rows / span.days / recentInserts))
  const recent = step * recentInserts
  const day = Math.ceil((rows - recent) / span.days)
  for (let from = 0; from < rows - recent; from += day) {
    const count = Math.min(day, rows - recent - from)
    await insert({ from, count, message: 'first' })
    await insert({ from, count, message: 'again', condition: oneInHundred })
  }
  await mergesAreDone(columnar)
  await mergeDays(columnar)
  for (let from = rows - recent; from < rows; from += step) {
    await columnar.command('SYSTEM STOP MERGES observations')
    await insert({ from, count: step, message: 'first' })
    const count = Math.floor(rows / 15)
    const condition = `${oneInHundred} AND cityHash64(number) % ${Math.ceil(rows / 20_000)} = 0`
    await insert({ from: rows - count, count, message: 'late', condition })
  }
  const took_s = (performance.now() - start_ms) / 1000
  const cpu_us = (((await engine.cpu_ms()) - cpu_ms) * 1000) / rows
  return { rows, took_s, cpu_us, ...(await stored(columnar, rows)) }
}

const oneInHundred = `cityHash64(number, 'again') % 100 = 0`

type Share = { from: number; count: number; message: string; condition?: string }

function inserter(columnar: ColumnarServer, rows: number) {
  const step_ns = BigInt(Math.floor(((span.to_ms - span.from_ms) * 1e6) / (rows / traceRows)))
  return ({ condition, ...share }: Share) =>
    columnar.command(
      insertGenerated(condition),
      { ...share, from_ns: BigInt(span.from_ms) * 1_000_000n, step_ns },
      { settings: { max_block_size: 16_384, max_insert_threads: 2 } },
    )
}

async function storeCorpus(columnar: ColumnarServer): Promise<void> {
  await columnar.command(
    'CREATE TABLE corpus (text String) ENGINE = MergeTree ORDER BY tuple() AS SELECT {text:String}',
    { text: '' },
  )
  await columnar.command('TRUNCATE TABLE corpus')
  const text = Buffer.from(await readCorpus(), 'latin1')
  await columnar.insertRowBinary('corpus', ['text'], Buffer.concat([varint(text.length), text]))
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  for (let rest = value; ; rest >>>= 7) {
    bytes.push((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0))
    if (rest <= 0x7f) return Buffer.from(bytes)
  }
}

async function mergesAreDone(columnar: ColumnarServer): Promise<void> {
  const deadline_ms = performance.now() + maxMergeWaitMs
  for (let quiet = 0; quiet < 4 && performance.now() < deadline_ms; ) {
    const [row] = await columnar.query<{ n: string }>(
      "SELECT count() AS n FROM system.merges WHERE table = 'observations'",
    )
    quiet = row?.n === '0' ? quiet + 1 : 0
    await sleep(mergePollMs)
  }
}

/** The engine's own merge of a finished day (decision 22), without waiting for it. */
async function mergeDays(columnar: ColumnarServer): Promise<void> {
  const wait = (s: number) =>
    columnar.command(
      `ALTER TABLE observations MODIFY SETTING min_age_to_force_merge_seconds = ${s}`,
    )
  await wait(1)
  const deadline_ms = performance.now() + maxMergeWaitMs
  for (let most = 0; most !== 1 && performance.now() < deadline_ms; ) {
    await sleep(mergePollMs)
    const [row] = await columnar.query<{ n: string }>(
      `SELECT max(parts) AS n FROM (SELECT count() AS parts FROM system.parts
        WHERE active AND database = currentDatabase() AND table = 'observations' GROUP BY partition)`,
    )
    most = Number(row?.n)
  }
  await mergesAreDone(columnar)
  await wait(forceMergeSeconds)
}

/** As in the schema. */
const forceMergeSeconds = 7_200

async function stored(columnar: ColumnarServer, rows: number) {
  const [row] = await columnar.query<Record<string, string>>(
    `SELECT sum(rows) AS stored, sum(bytes_on_disk) AS bytes, count() AS parts,
      sum(data_uncompressed_bytes) AS raw, uniqExact(partition) AS partitions
     FROM system.parts WHERE active AND database = currentDatabase() AND table = 'observations'`,
  )
  const figure = (name: string) => Number(row?.[name])
  return {
    sent_again: figure('stored') - rows,
    bytes_per_row: figure('bytes') / figure('stored'),
    raw_bytes_per_row: figure('raw') / figure('stored'),
    parts: figure('parts'),
    partitions: figure('partitions'),
  }
}
