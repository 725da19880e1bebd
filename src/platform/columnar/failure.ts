import { ClickHouseError } from '@clickhouse/client'
import { ColumnarError, ColumnarUnavailable } from './contract.ts'

/**
 * Answers of the engine that say "not now" rather than "not so": waiting helps.
 * Numbers from ClickHouse's src/Common/ErrorCodes.cpp.
 */
const passingCodes: ReadonlySet<number> = new Set([
  159, // TIMEOUT_EXCEEDED
  202, // TOO_MANY_SIMULTANEOUS_QUERIES
  203, // NO_FREE_CONNECTION
  209, // SOCKET_TIMEOUT
  210, // NETWORK_ERROR
  236, // ABORTED
  241, // MEMORY_LIMIT_EXCEEDED
  242, // TABLE_IS_READ_ONLY
  243, // NOT_ENOUGH_SPACE
  252, // TOO_MANY_PARTS
  279, // ALL_CONNECTION_TRIES_FAILED
  285, // TOO_FEW_LIVE_REPLICAS
  286, // UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE
  319, // UNKNOWN_STATUS_OF_INSERT
  394, // QUERY_WAS_CANCELLED
  425, // SYSTEM_ERROR
  516, // AUTHENTICATION_FAILED: a password is being changed, or is set wrong
  735, // QUERY_WAS_CANCELLED_BY_CLIENT
  999, // KEEPER_EXCEPTION
])

/** Translates what the client threw; `timed_out_ms` is set when we gave up waiting. */
export function columnarFailure(
  cause: unknown,
  timed_out_ms: number | undefined,
): ColumnarError | ColumnarUnavailable {
  if (timed_out_ms !== undefined) {
    return new ColumnarUnavailable(`ClickHouse gave no answer within ${timed_out_ms} ms`, { cause })
  }
  if (!(cause instanceof ClickHouseError)) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    return new ColumnarUnavailable(`ClickHouse gave no answer: ${reason}`, { cause })
  }
  const code = Number(cause.code)
  if (passingCodes.has(code)) {
    return new ColumnarUnavailable(`ClickHouse answered ${code} ${cause.type}`, { code, cause })
  }
  return new ColumnarError({
    code,
    type: cause.type ?? 'UNKNOWN',
    message: `ClickHouse refused: ${code} ${cause.type}: ${cause.message}`,
    cause,
  })
}
