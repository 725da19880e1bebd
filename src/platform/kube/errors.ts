/** What was asked of the API server: its verb and resource are those of RBAC's rules. */
export type KubeAct = {
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`. */
  verb: string
  /** Plural, with its group and subresource: `retentionpolicies.looptrace.dev/status`. */
  resource: string
  namespace: string | undefined
  name: string | undefined
}

/** An act that was not done; every error of this folder is one. */
export class KubeError extends Error {
  override readonly name: string = 'KubeError'
  readonly act: KubeAct

  constructor(act: KubeAct, message: string, options?: ErrorOptions) {
    super(message, options)
    this.act = act
  }
}

/** Another writer was first, or one of that name is there (409). Read again, then decide. */
export class KubeConflict extends KubeError {
  override readonly name = 'KubeConflict'
}

/** RBAC has no rule for the act (403). The message names the verb and the resource. */
export class KubeForbidden extends KubeError {
  override readonly name = 'KubeForbidden'
}

/** It is not there (404): the object, its namespace, or the kind itself. */
export class KubeNotFound extends KubeError {
  override readonly name = 'KubeNotFound'
}

/** The version that was asked for is no longer kept (410): list again. */
export class KubeExpired extends KubeError {
  override readonly name = 'KubeExpired'
}

/** The object is against its schema or a rule, or a patch's `test` failed (400, 413, 422). */
export class KubeInvalid extends KubeError {
  override readonly name = 'KubeInvalid'
}

/** No answer, no sign-in, too many requests or a fault of the server: worth another try. */
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

/** An answer that is none of 2xx, or an ERROR of a watch. */
export type BadAnswer = {
  status: number
  /** Of the server's `Status` object, or the text that came instead. */
  message: string
  /** Retry-After as it came: seconds. */
  retry_after?: string | undefined
}

/** A server's message may quote the whole object. */
const message_characters_max = 500

/** What a bad answer means for the one who asked. Statuses as the API conventions have them. */
export function answerError(act: KubeAct, answer: BadAnswer): KubeError {
  const said = answer.message.slice(0, message_characters_max)
  const message = `${sentenceOf(act)}: ${said}`
  switch (answer.status) {
    case 403:
      return new KubeForbidden(act, `no RBAC rule lets the operator ${sentenceOf(act)} (${said})`)
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
      return new KubeUnavailable(act, `${sentenceOf(act)}: the API server knows no such sign-in`)
    default:
      return new KubeUnavailable(act, `${message} (${answer.status})`, {
        retry_after_ms: millisecondsOf(answer.retry_after),
      })
  }
}

/** No answer at all. */
export function noAnswer(act: KubeAct, cause: unknown, hint = 'no answer'): KubeUnavailable {
  return new KubeUnavailable(act, `${sentenceOf(act)}: ${hint}${because(cause)}`, { cause })
}

/** `patch retentionpolicies.looptrace.dev/status in namespace team-a`. */
function sentenceOf({ verb, resource, namespace }: KubeAct): string {
  return `${verb} ${resource}${namespace === undefined ? '' : ` in namespace ${namespace}`}`
}

/** The API server sends whole seconds, never a date. */
function millisecondsOf(retryAfter: string | undefined): number | undefined {
  if (retryAfter === undefined || !/^\d{1,6}$/.test(retryAfter.trim())) return undefined
  return Number(retryAfter) * 1000
}

/** fetch says "fetch failed" and keeps what it was in `cause`. */
function because(error: unknown): string {
  const root = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return root instanceof Error ? ` (${root.message.slice(0, 200)})` : ''
}
