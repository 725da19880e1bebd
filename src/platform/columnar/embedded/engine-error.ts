/** A statement failed in the engine. `code` and `type` are those of ClickHouse. */
export class EngineError extends Error {
  override readonly name = 'EngineError'
  readonly code: number
  readonly type: string

  constructor(code: number, type: string, detail: string, cause?: unknown) {
    super(detail, { cause })
    this.code = code
    this.type = type
  }
}

const engineMessage = /^Code: (\d+)\. DB::Exception: (.*)\(([A-Z][A-Z0-9_]+)\)\.?\s*$/s

/** Parses the code and the name from the engine's message. */
export function engineFailure(cause: unknown): EngineError {
  if (cause instanceof EngineError) return cause
  const message = cause instanceof Error ? cause.message : String(cause)
  const match = engineMessage.exec(message)
  if (!match) return new EngineError(1002, 'UNKNOWN_EXCEPTION', message, cause)
  return new EngineError(Number(match[1]), match[3] ?? '', (match[2] ?? '').trim(), cause)
}

/** Formats the error as ClickHouse does, so that the client can parse code and name. */
export function engineErrorText(error: EngineError, version: string): string {
  return `Code: ${error.code}. DB::Exception: ${error.message} (${error.type}) (version ${version} (embedded))\n`
}

/** The relevant part of ClickHouse's exceptionCodeToHTTPStatus (src/Server/HTTP). */
const httpStatuses: ReadonlyMap<number, number> = new Map([
  [6, 400], // CANNOT_PARSE_TEXT
  [26, 400], // CANNOT_PARSE_QUOTED_STRING
  [27, 400], // CANNOT_PARSE_INPUT_ASSERTION_FAILED
  [33, 400], // CANNOT_READ_ALL_DATA
  [36, 400], // BAD_ARGUMENTS
  [38, 400], // CANNOT_PARSE_DATE
  [41, 400], // CANNOT_PARSE_DATETIME
  [43, 400], // ILLEGAL_TYPE_OF_ARGUMENT
  [46, 404], // UNKNOWN_FUNCTION
  [47, 404], // UNKNOWN_IDENTIFIER
  [53, 400], // TYPE_MISMATCH
  [60, 404], // UNKNOWN_TABLE
  [62, 400], // SYNTAX_ERROR
  [72, 400], // CANNOT_PARSE_NUMBER
  [81, 404], // UNKNOWN_DATABASE
  [115, 404], // UNKNOWN_SETTING
  [202, 503], // TOO_MANY_SIMULTANEOUS_QUERIES
  [236, 503], // ABORTED
  [307, 413], // TOO_MANY_BYTES
  [456, 400], // UNKNOWN_QUERY_PARAMETER
  [516, 403], // AUTHENTICATION_FAILED
])

export function httpStatusOf(error: EngineError): number {
  return httpStatuses.get(error.code) ?? 500
}
