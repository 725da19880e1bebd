/** A fault of one field: `pointer` is its JSON pointer in the body, such as `/name`. */
export type Fault = { pointer: string; detail: string }

/** An error of the API (RFC 9457), or of the way to it (`code` is `unreachable`). */
export class Problem extends Error {
  override name = 'Problem'
  readonly code: string
  /** HTTP status; 0 without a response. */
  readonly status: number
  readonly faults: readonly Fault[]
  readonly request_id: string | undefined
  readonly retry_after_s: number | undefined

  constructor(
    message: string,
    about: {
      code: string
      status: number
      faults?: readonly Fault[]
      request_id?: string | undefined
      retry_after_s?: number | undefined
    },
  ) {
    super(message)
    this.code = about.code
    this.status = about.status
    this.faults = about.faults ?? []
    this.request_id = about.request_id
    this.retry_after_s = about.retry_after_s
  }

  /** Reads an error response. A body that is not a problem of the API gives the status. */
  static async from(response: Response): Promise<Problem> {
    const body = (await response.json().catch(() => ({}))) as {
      code?: string
      title?: string
      detail?: string
      errors?: Fault[]
    }
    if (response.status === 401 && !response.url.endsWith(signIn)) return sessionEnded()
    const wait = Number(response.headers.get('retry-after') ?? Number.NaN)
    return new Problem(body.detail ?? body.title ?? `The server answered ${response.status}`, {
      code: body.code ?? 'unknown',
      status: response.status,
      faults: body.errors ?? [],
      request_id: response.headers.get('x-request-id') ?? undefined,
      retry_after_s: Number.isFinite(wait) ? wait : undefined,
    })
  }

  /** Wraps an error of the network. */
  static unreachable(cause: unknown): Problem {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause
    return new Problem('Check your connection, then try again.', {
      code: 'unreachable',
      status: 0,
    })
  }
}

/** The one path at which 401 speaks of a password and not of the session. */
const signIn = '/api/v1/auth/session'

/** The meaning of a 401 in a page. The text of the API is for clients with keys. */
function sessionEnded(): Problem {
  return new Problem('Sign in again in another tab, then try again here. Your text stays here.', {
    code: 'session_ended',
    status: 401,
  })
}

/** Returns the faults of fields in an error of the API; none for other errors. */
export function faultsOf(error: unknown): readonly Fault[] {
  return error instanceof Problem ? error.faults : []
}

/** Returns whether another attempt may help: no answer, a busy server, or a server fault. */
export function isTemporary(error: unknown): boolean {
  if (!(error instanceof Problem)) return false
  return error.status === 0 || error.status === 429 || error.status >= 500
}
