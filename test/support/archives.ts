import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import {
  openClickHouseRecordStore,
  openClickHouseStore,
} from '../../src/capabilities/observability/stores/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { type Blobs, openBlobs } from '../../src/platform/blobs/index.ts'
import type { Columnar } from '../../src/platform/columnar/index.ts'
import { blobsOptions } from './blobs.ts'
import { observationOf } from './observations.ts'
import { correlationOf, eventOf, linkOf, rowsOf, start, traceOf } from './records.ts'

/** The day of `start`, 2026-09-21, begins here. */
const day_ns = 86_400_000_000_000n
export const firstDay = (start / day_ns) * day_ns

export const iso = (ns: bigint): string => new Date(Number(ns / 1_000_000n)).toISOString()

/** A window of so many days from the first one. */
export const daysFrom = (days: number) => ({
  from: iso(firstDay),
  to: iso(firstDay + BigInt(days) * day_ns),
})

/** A folder of blobs of a test's own. */
export async function folderBlobs(): Promise<Blobs> {
  const directory = await mkdtemp(join(tmpdir(), 'looptrace-archives-'))
  return openBlobs(blobsOptions(String(pathToFileURL(directory))))
}

/**
 * Writes records of all kinds on `days` days, `each` of a kind and day, and some of them once more
 * with other values, so that versions lie side by side. Users take turns: user-0 to user-4.
 */
export async function writeRecords(
  columnar: Columnar,
  { project_id, days, each }: { project_id: string; days: number; each: number },
): Promise<void> {
  const store = openClickHouseStore({ columnar })
  const records = openClickHouseRecordStore({ columnar })
  const seeds = Array.from({ length: days * each }, (_, at) => {
    const time = firstDay + BigInt(at % days) * day_ns + BigInt(at) * 1_000_001n
    const trace_id = newId()
    const observation_id = `obs-${at}`
    return { at, time, trace_id, observation_id, project_id }
  })
  const observations = seeds.map(({ at, time, ...ids }) =>
    observationOf({
      ...ids,
      start_time: time,
      end_time: time + 5n,
      user_id: `user-${at % 5}`,
      environment: at % 2 === 0 ? 'production' : 'staging',
      input: `what is ${at}? é🦊\n\\'`,
      output: 'x'.repeat(at % 300),
      cost_usd: at % 3 === 0 ? null : '0.000000001',
      time_to_first_token_ms: at % 4 === 0 ? null : at / 7,
      tool_calls: at % 2 === 0 ? [{ id: 'c', name: 'n', arguments: `{"a":${at}}` }] : [],
      attributes: { n: String(at), "it's": '"' },
      metadata: at % 3 === 0 ? {} : { k: 'v' },
    }),
  )
  await store.insert(observations, { token: newId() })
  const again = observations.filter((_, at) => at % 7 === 0)
  await store.insert(
    again.map((each) => ({ ...each, name: 'sent again' })),
    { token: newId() },
  )
  const drafts = {
    traces: seeds.map(({ at, observation_id: _, ...ids }) =>
      traceOf({ ...ids, user_id: `user-${at % 5}`, input: `in ${at}` }),
    ),
    events: seeds.map(({ at, ...ids }) =>
      eventOf({ ...ids, event_id: `e${at}`, body: Buffer.from('b') }),
    ),
    links: seeds.map(({ at, ...ids }) => linkOf({ ...ids, link_id: `l${at}` })),
    correlations: seeds.map(({ at, ...ids }) =>
      correlationOf({ ...ids, correlation_value: `value-${at}` }),
    ),
  }
  const about = { token: newId() }
  await records.insertRows('traces', rowsOf('traces', drafts.traces), about)
  await records.insertRows('events', rowsOf('events', drafts.events), about)
  await records.insertRows('links', rowsOf('links', drafts.links), about)
  await records.insertRows('correlations', rowsOf('correlations', drafts.correlations), about)
}
