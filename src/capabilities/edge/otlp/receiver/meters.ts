import type { Metrics } from '../../../../platform/telemetry/index.ts'
import type { OtlpEncoding, OtlpSignal } from '../decode/answers.ts'
import type { OtlpTransport } from './contract.ts'
import type { InflightBytes } from './inflight-bytes.ts'

/** One finished request, as it is counted. */
export type EndedExport = {
  transport: OtlpTransport
  encoding: OtlpEncoding | 'none'
  /** `ok`, `partial`, `client_gone` or a code of the error catalogue. */
  result: string
}

/** The metrics of the receiver. */
export type OtlpMeters = {
  /** Counts a finished request. */
  ended(request: EndedExport): void
  /** Counts the bytes of one request, compressed and decompressed. */
  received(transport: OtlpTransport, packed: number, unpacked: number): void
  /** Counts the items of a request; those in `rejected` were not accepted. */
  took(
    signal: OtlpSignal | 'langfuse_ingestion',
    items: number,
    rejected: Readonly<Record<string, number>>,
  ): void
  warned(warnings: ReadonlyMap<string, number>): void
}

/** Makes the metrics of the receiver. */
export function createOtlpMeters(metrics: Metrics, inflight: InflightBytes): OtlpMeters {
  const requests = metrics.counter({
    name: 'looptrace_otlp_requests_total',
    help: 'Finished export requests, by result: ok, partial, client_gone, or an error code.',
    labels: ['transport', 'encoding', 'result'],
  })
  const items = metrics.counter({
    name: 'looptrace_otlp_items_total',
    help: 'Spans, log records and data points in answered requests, by result: accepted, or a reason for rejection.',
    labels: ['signal', 'result'],
  })
  const bytes = metrics.counter({
    name: 'looptrace_otlp_received_bytes_total',
    help: 'Bytes of export requests, compressed (packed) and decompressed (unpacked).',
    labels: ['transport', 'state'],
  })
  const warnings = metrics.counter({
    name: 'looptrace_otlp_warnings_total',
    help: 'Accepted deviations from the OTLP specification, by kind.',
    labels: ['warning'],
  })
  metrics.gauge({
    name: 'looptrace_otlp_inflight_bytes',
    help: 'Bytes of export requests in memory.',
    collect: (gauge) => gauge.set(inflight.held_bytes),
  })
  return {
    ended: (request) => requests.inc(request),
    received(transport, packed, unpacked) {
      bytes.inc({ transport, state: 'packed' }, packed)
      bytes.inc({ transport, state: 'unpacked' }, unpacked)
    },
    took(signal, count, rejected) {
      let accepted = count
      for (const [result, refused] of Object.entries(rejected)) {
        items.inc({ signal, result }, refused)
        accepted -= refused
      }
      if (accepted > 0) items.inc({ signal, result: 'accepted' }, accepted)
    },
    warned(found) {
      for (const [warning, count] of found) warnings.inc({ warning }, count)
    },
  }
}
