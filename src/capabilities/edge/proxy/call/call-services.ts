import type { Clock } from '../../../../kernel/time.ts'
import type { QuietLog } from '../../../../platform/telemetry/index.ts'
import type { ExchangeRecorder, ProxySettings } from '../contract.ts'
import type { CallIds } from './call-ids.ts'
import type { ProxyMeters } from './meters.ts'
import type { Listed, SlotList } from './slot-list.ts'

/** A call in flight: of its own request, or of a socket. */
export type OpenCall = Listed & {
  /** Ends the call because this process stops. */
  stop(): void
  /** Ends the call because its client does not read the answer. */
  abandon(): void
  /** Returns true when the client has lagged behind since before this instant (monotonic clock). */
  isBlockedSince(before_ms: number): boolean
}

/** An open socket, as the proxy ends it. */
type OpenSocket = {
  /** Closes the socket once its calls have ended. */
  leave(): void
  /** Ends its calls and closes it. */
  stop(): void
}

/** Services that all calls of a proxy share. */
export type CallServices = {
  readonly settings: ProxySettings
  readonly clock: Clock
  readonly recorder: ExchangeRecorder
  readonly meters: ProxyMeters
  readonly ids: CallIds
  readonly quietLog: QuietLog
  readonly inFlight: SlotList<OpenCall>
  /** Sockets that are open, with calls or without. */
  readonly sockets: Set<OpenSocket>
  /** Bytes of request bodies held by calls in flight. */
  bodyBytesInFlight: number
  /** Called after a call has left `inFlight`. */
  callEnded(): void
}
