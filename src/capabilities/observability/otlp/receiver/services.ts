import type { Clock } from '../../../../kernel/time.ts'
import type { QuietLog } from '../../../../platform/telemetry/index.ts'
import type { OtlpEncoding } from '../decode/answer/export-response.ts'
import type { Admit } from './admission.ts'
import type { OtlpSettings, OtlpTransport } from './contract.ts'
import type { InflightBytes } from './inflight-bytes.ts'
import type { OtlpMeters } from './meters.ts'
import type { Pipeline } from './pipeline.ts'

/** One request that has ended, as it is counted. */
export type EndedExport = {
  transport: OtlpTransport
  encoding: OtlpEncoding | 'none'
  /** `ok`, `partial`, `client_gone` or a code of the catalogue. */
  result: string
}

/** What both transports work with. */
export type ReceiverServices = {
  settings: OtlpSettings
  clock: Clock
  admit: Admit
  take: Pipeline
  inflight: InflightBytes
  meters: OtlpMeters
  quietLog: QuietLog
  /** A request is in flight from `began` to `ended`. */
  began(): void
  ended(about: EndedExport): void
}
