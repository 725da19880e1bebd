import type { OtlpEncoding } from './export-response.ts'
import { lengthField, numberField } from './protobuf-writer.ts'

/** What a request is refused with: `code` is one of google.rpc.Code. */
export type RpcStatus = {
  code: number
  message: string
  /** When the client may come back, in milliseconds; sent as a RetryInfo. */
  retry_delay_ms?: number | undefined
}

const retryInfo = 'type.googleapis.com/google.rpc.RetryInfo'

/** The body of a refusal: a google.rpc.Status in the encoding of the request. */
export function encodeStatus(encoding: OtlpEncoding, status: RpcStatus): Buffer {
  return encoding === 'json' ? jsonStatus(status) : protobufStatus(status)
}

function protobufStatus({ code, message, retry_delay_ms }: RpcStatus): Buffer {
  const parts = [numberField(1, code), lengthField(2, message)]
  if (retry_delay_ms !== undefined) {
    const { seconds, nanos } = durationOf(retry_delay_ms)
    const duration = Buffer.concat([numberField(1, seconds), numberField(2, nanos)])
    const any = [lengthField(1, retryInfo), lengthField(2, lengthField(1, duration))]
    parts.push(lengthField(3, Buffer.concat(any)))
  }
  return Buffer.concat(parts)
}

function jsonStatus({ code, message, retry_delay_ms }: RpcStatus): Buffer {
  const details =
    retry_delay_ms === undefined
      ? []
      : [{ '@type': retryInfo, retryDelay: `${Math.ceil(retry_delay_ms) / 1_000}s` }]
  return Buffer.from(
    JSON.stringify({ code, message, ...(details.length === 0 ? {} : { details }) }),
  )
}

function durationOf(ms: number): { seconds: number; nanos: number } {
  const whole_ms = Math.ceil(ms)
  return { seconds: Math.floor(whole_ms / 1_000), nanos: (whole_ms % 1_000) * 1_000_000 }
}
