/**
 * No reply was received. The message never has the addresses of a name, which would show the inside
 * of a cluster to its tenants, and never the URL's path, which may hold a secret.
 */
export class OutboundFailed extends Error {
  override readonly name = 'OutboundFailed'
  readonly code: OutboundFailure
  /** Whether the server was reached: then it may have acted on the request. */
  readonly reached: boolean
  /**
   * The message for the person who named the URL; `message` is for the operator. A name that does not
   * exist and one that leads to an address that is not allowed have the same, because a difference
   * would show which names exist inside a cluster.
   */
  readonly shown: string

  constructor(
    code: OutboundFailure,
    message: string,
    { reached = false, shown = message }: { reached?: boolean; shown?: string } = {},
  ) {
    super(message)
    this.code = code
    this.reached = reached
    this.shown = shown
  }

  /** Whether the guard refused the host's name, for a reason that `shown` hides. */
  get isNameRefused(): boolean {
    return this.shown !== this.message
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
  return new OutboundFailed(code, `${host} ${what}`, { reached })
}

/** Creates the failure of a name that the guard refuses before a connection. */
export function nameRefused(
  code: 'refused' | 'unresolved',
  { host }: URL,
  { what, ports }: { what: string; ports: readonly number[] },
): OutboundFailed {
  const shown = `The address ${host} can't be used: expected a name that exists and leads to ${allowedAddresses(ports)}. Check the spelling, and ask the administrator of the installation about private networks`
  return new OutboundFailed(code, `${host} ${what}`, { shown })
}

/** Describes the addresses that the guard allows. */
export function allowedAddresses(ports: readonly number[]): string {
  return `a public address on port ${ports.join(' or ')}, or one of the allowed networks`
}

/** Creates the failure of a request whose signal aborted. */
export function abortedBy({ reason }: AbortSignal, url: URL, reached: boolean): OutboundFailed {
  const isLate = reason instanceof Error && reason.name === 'TimeoutError'
  if (!isLate) return failed('aborted', url, 'is not waited for any longer', reached)
  return failed('timeout', url, 'did not answer in time', reached)
}
