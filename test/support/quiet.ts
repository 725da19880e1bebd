import { eventually } from './eventually.ts'
import { type MetricValues, scrape } from './metrics.ts'

/** Management ports of the processes on a record's path. */
export type RecordingPath = { proxy: string; worker: string }

/** The proxy's counts of its calls' records since it started. */
export type RecordCounts = {
  published: number
  lost: number
  pending: number
  /** Messages that went to the disk spool, and messages that are still in it. */
  spooled: number
  in_spool: number
}

const pending = { state: 'pending' }

/** Waits until every record has left the proxy and is acknowledged by the worker. */
export async function untilAllRecorded(
  path: RecordingPath,
  { timeout_ms = 60_000 } = {},
): Promise<RecordCounts> {
  return eventually(
    'every record is acknowledged',
    async () => {
      const proxy = await scrape(path.proxy)
      const worker = await scrape(path.worker)
      const counts = recordCountsIn(proxy)
      // A process without a connection reports its last state, so both are asked.
      const waiting = [proxy, worker].map((of) => of('looptrace_queue_messages', pending))
      const isThrough = [counts.pending, counts.in_spool, ...waiting].every((left) => left === 0)
      return isThrough && counts
    },
    { timeout_ms, interval_ms: 50 },
  )
}

/** Reads the proxy's counters. */
export async function recordCounts(management_url: string): Promise<RecordCounts> {
  return recordCountsIn(await scrape(management_url))
}

function recordCountsIn(value: MetricValues): RecordCounts {
  return {
    published: value('looptrace_proxy_records_total', { result: 'published' }),
    lost: value('looptrace_proxy_records_total', { result: 'lost' }),
    pending: value('looptrace_proxy_records_pending'),
    spooled: value('looptrace_spool_messages_total', { moved: 'in' }),
    in_spool: value('looptrace_spool_messages', pending),
  }
}
