/** The encoding of an OTLP request, and of its reply. */
export type OtlpEncoding = 'protobuf' | 'json'

/** The kind of items in an export request: of OTLP, or calls of LiteLLM's callback. */
export type OtlpSignal = 'traces' | 'logs' | 'metrics' | 'litellm'

/** Rejected items, or a warning when `rejected` is 0. */
type PartialSuccess = { rejected: number; error_message: string }

/**
 * Encodes the body of a 200: ExportTraceServiceResponse or that of logs or metrics. Leaves
 * `partial_success` unset when nothing was rejected and there is no warning (OTLP specification,
 * Full Success).
 */
export function encodeExportResponse(
  encoding: OtlpEncoding,
  signal: OtlpSignal,
  partial: PartialSuccess = { rejected: 0, error_message: '' },
): Buffer {
  return encoding === 'json' ? jsonResponse(signal, partial) : protobufResponse(partial)
}

function protobufResponse({ rejected, error_message }: PartialSuccess): Buffer {
  const partial = Buffer.concat([numberField(1, rejected), lengthField(2, error_message)])
  return lengthField(1, partial)
}

function jsonResponse(signal: OtlpSignal, { rejected, error_message }: PartialSuccess): Buffer {
  if (rejected === 0 && error_message === '') return Buffer.from('{}')
  const partialSuccess = {
    // protobuf's JSON has 64-bit integers as text.
    ...(rejected === 0 ? {} : { [rejectedNames[signal]]: String(rejected) }),
    ...(error_message === '' ? {} : { errorMessage: error_message }),
  }
  return Buffer.from(JSON.stringify({ partialSuccess }))
}

const rejectedNames: Readonly<Record<OtlpSignal, string>> = {
  traces: 'rejectedSpans',
  logs: 'rejectedLogRecords',
  metrics: 'rejectedDataPoints',
  litellm: 'rejectedCalls',
}

/** The status of a refused request; `code` is one of google.rpc.Code. */
type RpcStatus = {
  code: number
  message: string
  /** Milliseconds after which the client may retry; sent as a RetryInfo. */
  retry_delay_ms?: number | undefined
}

const retryInfo = 'type.googleapis.com/google.rpc.RetryInfo'

/** Encodes the body of a refusal: a google.rpc.Status in the encoding of the request. */
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

/** Encodes a field with text, a message or bytes. Empty content is left out, as in proto3. */
function lengthField(field: number, content: string | Uint8Array): Buffer {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  if (bytes.length === 0) return Buffer.alloc(0)
  return Buffer.concat([varint(field * 8 + 2), varint(bytes.length), bytes])
}

/** Encodes a field with a whole number, 0 to 2^53 - 1. Zero is left out, as in proto3. */
function numberField(field: number, value: number): Buffer {
  return value === 0 ? Buffer.alloc(0) : Buffer.concat([varint(field * 8), varint(value)])
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) + 0x80)
    rest = Math.floor(rest / 0x80)
  }
  bytes.push(rest)
  return Buffer.from(bytes)
}
