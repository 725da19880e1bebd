import { expect } from 'vitest'
import { createEnqueuer, type EnqueuerOptions } from '../../src/capabilities/edge/enqueue/index.ts'
import { readObservation } from '../../src/capabilities/storage/row-format/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { systemClock } from '../../src/kernel/time.ts'
import type { LedgerEntry } from '../../src/model/ledger-entry.ts'
import { decodeRowFrame } from '../../src/model/row-frame.ts'
import type { OutgoingMessage } from '../../src/platform/queue/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'

const decompressed_bytes_max = 64 * 1024 * 1024

/** A message at the time it was published. */
export type KeptMessage = OutgoingMessage & { data: Buffer }

/** An enqueuer that keeps its durable messages, or publishes to `publish`. */
export function enqueuerOf(options: Partial<EnqueuerOptions> = {}) {
  const messages: KeptMessage[] = []
  const entries: LedgerEntry[] = []
  const metrics = createMetrics()
  const { publish = async () => undefined } = options
  const defaults: EnqueuerOptions = {
    message_bytes_max: 1024 * 1024,
    inflight_bytes_max: 64 * 1024 * 1024,
    clock: systemClock,
    newId,
    metrics,
    logger: createLogger({ role: 'test', level: 'silent' }),
    retry: { attempts_max: 2, delay_ms: 1 },
    onAccepted: (accepted) => entries.push(...accepted),
    ...options,
    publish: async (message) => {
      const copy = { ...message, data: Buffer.from(message.data) }
      await publish(message)
      messages.push(copy)
    },
  }
  return { enqueuer: createEnqueuer(defaults), messages, entries, metrics }
}

/** The contents of messages. */
export function framesIn(messages: readonly KeptMessage[]) {
  return messages.map(({ id, data }) => {
    const frame = decodeRowFrame(data, decompressed_bytes_max)
    const rows: { kind: string; receipt: number; bytes: Buffer }[] = []
    frame.eachRow((kind, start, end, receipt) =>
      rows.push({ kind, receipt, bytes: frame.bytes.subarray(start, end) }),
    )
    return { ...frame, id, rows }
  })
}

/** The observations in messages. */
export function observationsIn(messages: readonly KeptMessage[]) {
  return framesIn(messages).flatMap(({ rows }) =>
    rows.filter(({ kind }) => kind === 'observations').map(({ bytes }) => readObservation(bytes)),
  )
}

/** Expects that rows name their message, and that no request has two receipts in it. */
export function assertWhole({ id, rows, receipts }: ReturnType<typeof framesIn>[number]): void {
  for (const { bytes } of rows) expect(readObservation(bytes).message_id).toBe(id)
  const named = receipts.map(({ ingest_request_id }) => ingest_request_id)
  expect(new Set(named).size).toBe(named.length)
}
