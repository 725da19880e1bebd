import { ingestPaths } from '../../../model/ingest-records.ts'
import type { Metrics } from '../../../platform/telemetry/index.ts'
import type { SealedFrame } from './open-frame.ts'

/**
 * Why records did not reach the queue: too much in flight, a failed publish, a row that is too
 * large or has a value that does not fit its column, a closing process.
 */
type EnqueueFailure =
  | 'inflight_full'
  | 'not_published'
  | 'too_large'
  | 'not_encodable'
  | 'failed'
  | 'closed'

export type EnqueueMeters = {
  durable(frame: SealedFrame): void
  failed(reason: EnqueueFailure): void
  contentDropped(): void
}

/** Makes the metrics of publishing. `inflight_bytes` is called at each scrape. */
export function createEnqueueMeters(metrics: Metrics, inflight_bytes: () => number): EnqueueMeters {
  const items = metrics.counter({
    name: 'looptrace_enqueued_items_total',
    help: 'Items that are durable in the queue or the spool, by path.',
    labels: ['path'],
  })
  const rows = metrics.counter({
    name: 'looptrace_enqueued_rows_total',
    help: 'Rows that are durable in the queue or the spool.',
  })
  const messages = metrics.counter({
    name: 'looptrace_enqueued_messages_total',
    help: 'Messages of rows that are durable in the queue or the spool.',
  })
  const bytes = metrics.counter({
    name: 'looptrace_enqueued_bytes_total',
    help: 'Bytes of messages of rows that are durable in the queue or the spool.',
  })
  const failures = metrics.counter({
    name: 'looptrace_enqueue_failures_total',
    help: 'Requests, messages and rows that did not reach the queue, by reason.',
    labels: ['reason'],
  })
  const dropped = metrics.counter({
    name: 'looptrace_enqueue_content_dropped_total',
    help: 'Rows whose content was dropped because it does not fit into a message.',
  })
  metrics.gauge({
    name: 'looptrace_enqueue_inflight_bytes',
    help: 'Estimated bytes of the requests whose records are not durable yet.',
    collect: (gauge) => gauge.set(inflight_bytes()),
  })
  return {
    durable: ({ data, receipts }) => {
      messages.inc()
      bytes.inc(data.length)
      let rowsInFrame = 0
      const itemsByPath = { proxy: 0, otlp: 0, api: 0 }
      for (const receipt of receipts) {
        rowsInFrame += receipt.rows
        itemsByPath[receipt.path] += receipt.items
      }
      rows.inc(rowsInFrame)
      for (const path of ingestPaths) {
        if (itemsByPath[path] > 0) items.inc({ path }, itemsByPath[path])
      }
    },
    failed: (reason) => failures.inc({ reason }),
    contentDropped: () => dropped.inc(),
  }
}
