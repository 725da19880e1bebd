/** An operation on the API server, with the verb and the resource as RBAC rules name them. */
export type KubeAct = {
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`. */
  verb: string
  /** Plural, with its group and subresource: `retentionpolicies.looptrace.dev/status`. */
  resource: string
  namespace: string | undefined
  name: string | undefined
}

/** A failed operation: the base class of the errors of this folder. */
export class KubeError extends Error {
  override readonly name: string = 'KubeError'
  readonly act: KubeAct

  constructor(act: KubeAct, message: string, options?: ErrorOptions) {
    super(message, options)
    this.act = act
  }
}

/** The object changed since it was read, or the name is in use (409). Read again, then decide. */
export class KubeConflict extends KubeError {
  override readonly name = 'KubeConflict'
}

/** RBAC does not allow the operation (403). The message names the verb and the resource. */
export class KubeForbidden extends KubeError {
  override readonly name: string = 'KubeForbidden'
}

/** Admission refuses the operation (403): a quota, a webhook, a policy. */
export class KubeDenied extends KubeForbidden {
  override readonly name = 'KubeDenied'
}

/** The object, its namespace or the kind does not exist (404). */
export class KubeNotFound extends KubeError {
  override readonly name = 'KubeNotFound'
}

/** The requested resource version is no longer kept (410). List again. */
export class KubeExpired extends KubeError {
  override readonly name = 'KubeExpired'
}

/** The object violates its schema or a rule, or a patch's `test` failed (400, 413, 422). */
export class KubeInvalid extends KubeError {
  override readonly name = 'KubeInvalid'
}

/** No answer, a rejected sign-in, too many requests or a server error. A retry may succeed. */
export class KubeUnavailable extends KubeError {
  override readonly name = 'KubeUnavailable'
  /** From Retry-After. */
  readonly retry_after_ms: number | undefined

  constructor(
    act: KubeAct,
    message: string,
    options: { retry_after_ms?: number | undefined; cause?: unknown } = {},
  ) {
    super(act, message, { cause: options.cause })
    this.retry_after_ms = options.retry_after_ms
  }
}

/** An answer with a status other than 2xx, or an ERROR event of a watch. */
export type BadAnswer = {
  status: number
  /** Message of the server's `Status` object, or the body as text. */
  message: string
  /** The Retry-After header, in seconds. */
  retry_after?: string | undefined
}

/** Bounds the server's message, which may quote the whole object. */
const message_characters_max = 500

/** Converts a bad answer to an error, by the statuses of the Kubernetes API conventions. */
export function answerError(act: KubeAct, answer: BadAnswer): KubeError {
  const text = answer.message.slice(0, message_characters_max)
  const message = `${describeOperation(act)}: ${text}`
  switch (answer.status) {
    case 403:
      return isByAdmission(answer.message)
        ? new KubeDenied(act, message)
        : new KubeForbidden(
            act,
            `no RBAC rule lets the operator ${describeOperation(act)} (${text})`,
          )
    case 404:
      return new KubeNotFound(act, message)
    case 409:
      return new KubeConflict(act, message)
    case 410:
      return new KubeExpired(act, message)
    case 400:
    case 413:
    case 422:
      return new KubeInvalid(act, message)
    case 401:
      return new KubeUnavailable(
        act,
        `${describeOperation(act)}: the API server rejected the credentials`,
      )
    default:
      return new KubeUnavailable(act, `${message} (${answer.status})`, {
        retry_after_ms: parseRetryAfter(answer.retry_after),
      })
  }
}

/**
 * Whether a 403 comes from admission: `secrets "x" is forbidden: exceeded quota: …`, `admission
 * webhook "x" denied the request: …`. One from RBAC says `User "x" cannot create resource …`.
 */
function isByAdmission(message: string): boolean {
  return !/User ".*" cannot /.test(message) && / is forbidden: | denied /.test(message)
}

/** Creates the error for a request that got no answer. */
export function noAnswerError(act: KubeAct, cause: unknown, hint = 'no answer'): KubeUnavailable {
  return new KubeUnavailable(act, `${describeOperation(act)}: ${hint}${causeText(cause)}`, {
    cause,
  })
}

/** Formats an operation: `patch retentionpolicies.looptrace.dev/status in namespace team-a`. */
function describeOperation({ verb, resource, namespace }: KubeAct): string {
  return `${verb} ${resource}${namespace ? ` in namespace ${namespace}` : ''}`
}

/** Parses Retry-After; the API server sends whole seconds, never a date. */
function parseRetryAfter(retryAfter: string | undefined): number | undefined {
  if (retryAfter === undefined || !/^\d{1,6}$/.test(retryAfter.trim())) return undefined
  return Number(retryAfter) * 1000
}

/** Returns the reason in brackets; `fetch` puts it in `cause` of an error "fetch failed". */
function causeText(error: unknown): string {
  const root = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return root instanceof Error ? ` (${root.message.slice(0, 200)})` : ''
}
