import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { newId } from '../../src/kernel/ids.ts'
import type { AuditEntry } from '../../src/model/audit-entry.ts'
import type { openAuditStreams } from '../../src/roles/audit-streams.ts'
import { otlpMessage, type PlainLogRecord, type PlainLogs } from './otlp-messages.ts'

type StreamConfig = Parameters<typeof openAuditStreams>[1]

export const streamSecret = `whsec_${Buffer.from('a signing secret of this test').toString('base64')}`

/** Limits of the requests of streams in tests. */
export const streamLimits = { records_max: 20, timeout_ms: 1_000 }

/** Settings of streams, without a receiver. */
export function streamConfig(given: Partial<StreamConfig>): StreamConfig {
  return {
    audit_stream_webhook_url: undefined,
    audit_stream_webhook_secret: streamSecret,
    audit_stream_webhook_headers: undefined,
    audit_stream_otlp_url: undefined,
    audit_stream_otlp_headers: undefined,
    audit_checkpoint_poll_ms: 1_000,
    audit_days: 0,
    outbound_allowed: undefined,
    ...given,
  }
}

/** An entry of the audit trail. */
export function auditEntry(given: Partial<AuditEntry> = {}): AuditEntry {
  return {
    organization_id: null,
    project_id: null,
    recorded_at: new Date().toISOString(),
    ...{ action: 'test', outcome: 'succeeded', code: null },
    ...{ actor_kind: 'user', actor_id: 'ada', via: 'api' },
    ...{ resource_type: 'organizations', resource_id: null, request_id: newId() },
    ...{ suppressed: 0, origin: null, change: null },
    ...given,
  }
}

/** Returns the log records of an ExportLogsServiceRequest, read by protobufjs. */
export function logsIn(bytes: Buffer): PlainLogRecord[] {
  const type = otlpMessage('ExportLogsServiceRequest')
  const read = type.toObject(type.decode(bytes), { longs: String }) as PlainLogs
  return read.resourceLogs.flatMap(({ scopeLogs }) =>
    scopeLogs.flatMap(({ logRecords }) => logRecords),
  )
}

/** Returns the attributes of a log record. */
export function attributesIn({ attributes = [] }: PlainLogRecord): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value = {} }) => [
      key,
      value.stringValue ?? value.boolValue ?? (value.intValue && Number(value.intValue)),
    ]),
  )
}

/** Returns a port of loopback on which nothing listens. */
export async function closedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
