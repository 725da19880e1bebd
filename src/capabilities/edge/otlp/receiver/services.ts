import type { Clock } from '../../../../kernel/time.ts'
import type { QuietLog } from '../../../../platform/telemetry/index.ts'
import type { OtlpSettings } from './contract.ts'
import type { InflightBytes } from './inflight-bytes.ts'
import type { Admit } from './intake.ts'
import type { EndedExport, OtlpMeters } from './meters.ts'
import type { Pipeline } from './pipeline.ts'

/** Services that both transports share. */
export type ReceiverServices = {
  settings: OtlpSettings
  clock: Clock
  admit: Admit
  take: Pipeline
  inflight: InflightBytes
  meters: OtlpMeters
  quietLog: QuietLog
  /** Starts counting a request as in flight; `ended` stops it. */
  began(): void
  ended(request: EndedExport): void
}
