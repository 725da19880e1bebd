/**
 * No reply was received. The message never has the addresses of a name, which would show the inside
 * of a cluster to its tenants, and never the URL's path, which may hold a secret.
 */
export class OutboundFailed extends Error {
  override readonly name = 'OutboundFailed'
  readonly code: OutboundFailure
  /** Whether the server was reached: then it may have acted on the request. */
  readonly reached: boolean

  constructor(code: OutboundFailure, message: string, reached = false) {
    super(message)
    this.code = code
    this.reached = reached
  }
}

/**
 * `refused`: the URL, an address or a port is not allowed. Do not send the request again.
 * `aborted`: the caller ended the request.
 */
export type OutboundFailure =
  | 'refused'
  | 'unresolved'
  | 'connection'
  | 'timeout'
  | 'aborted'
  | 'too_large'
  | 'encoding'
  | 'redirects'

/** Creates a failure whose message begins with the host of the URL. */
export function failed(code: OutboundFailure, { host }: URL, what: string, reached = false) {
  return new OutboundFailed(code, `${host} ${what}`, reached)
}

/** Creates the failure of a request whose signal aborted. */
export function abortedBy({ reason }: AbortSignal, url: URL, reached: boolean): OutboundFailed {
  const isLate = reason instanceof Error && reason.name === 'TimeoutError'
  if (!isLate) return failed('aborted', url, 'is not waited for any longer', reached)
  return failed('timeout', url, 'did not answer in time', reached)
}
