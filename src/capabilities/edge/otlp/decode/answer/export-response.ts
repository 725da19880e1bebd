import { lengthField, numberField } from './protobuf-writer.ts'

/** How an OTLP request was encoded, and so how its answer is. */
export type OtlpEncoding = 'protobuf' | 'json'

/** What an export request carries. */
export type OtlpSignal = 'traces' | 'logs'

/** What was not taken, or a warning when `rejected` is 0. */
export type PartialSuccess = { rejected: number; error_message: string }

/**
 * The body of a 200: ExportTraceServiceResponse or ExportLogsServiceResponse. `partial_success` is
 * unset when nothing was rejected and there is nothing to say (OTLP specification, Full Success).
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
  const name = signal === 'traces' ? 'rejectedSpans' : 'rejectedLogRecords'
  const partialSuccess = {
    // 64-bit integers are text in the JSON of protobuf.
    ...(rejected === 0 ? {} : { [name]: String(rejected) }),
    ...(error_message === '' ? {} : { errorMessage: error_message }),
  }
  return Buffer.from(JSON.stringify({ partialSuccess }))
}
