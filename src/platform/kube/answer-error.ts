import {
  type KubeAct,
  KubeConflict,
  type KubeError,
  KubeExpired,
  KubeForbidden,
  KubeInvalid,
  KubeNotFound,
  KubeUnavailable,
} from './errors.ts'

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
