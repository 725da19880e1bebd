import { projectKeyForm } from '../../../kernel/project-key-text.ts'

/** Names of events that clients may post, with their meanings. Other names are refused. */
export const eventNames = {
  installed: 'The chart, the image or `make run` was installed and answers.',
  upgraded: 'The installation was upgraded to another version.',
  key_created: 'A project key was created or stored where the agent reads it.',
  sdk_configured: 'The base URL or the exporter of an application was pointed at Looptrace.',
  first_call: 'The first completion went through the proxy.',
  first_span: 'The first OTLP span was accepted.',
  first_task: 'The first task with a name of its own was read.',
  first_verdict: 'The first verdict of a task was read.',
  first_verification: 'The first verified answer was read.',
  first_incident_rule: 'The first incident rule was created.',
  first_channel: 'The first notification channel was created.',
  first_feedback: 'The first feedback was sent.',
  scenario_started: 'The seeded reliability scenario was started.',
  scenario_ended: 'The seeded reliability scenario ended, and its result was read.',
  doctor_run: '`looptrace doctor` was run.',
  docs_opened: 'A guide or a page of the reference was opened.',
  console_opened: 'A page for people was opened.',
} as const

export type EventName = keyof typeof eventNames

export const eventNameList = Object.keys(eventNames) as EventName[]

/** Times of an event, in milliseconds since 1970. */
type ReportedTimes = {
  /** Time of the event, by the clock of the client; undefined for the time of receipt. */
  occurred_at_ms: number | undefined
  /** Time of sending, by the clock of the client. */
  sent_at_ms: number | undefined
  /** Time of receipt, by the clock of the server. */
  received_at_ms: number
}

/** The time of an event, with the clock that it comes from. */
type CorrectedTime = {
  occurred_at_ms: number
  /**
   * `client`: as it was sent. `corrected`: moved by the difference of the clocks. `server`: the
   * time of receipt, because the client gave none, or one that no difference of clocks explains.
   */
  clock: 'client' | 'corrected' | 'server'
  /**
   * Clock of the server minus clock of the client; null when the client did not say when it sent.
   */
  skew_ms: number | null
}

/** Differences up to this size are treated as network delay, not as a wrong clock. */
export const skewToleratedMs = 120_000

/** Maximum age of an event. The time of receipt replaces older times. */
export const maxEventAgeMs = 90 * 86_400_000

/**
 * Corrects the time of an event. For every clock of a client, the result is at or before the
 * receipt, by at most `maxEventAgeMs`.
 */
export function correctTime(times: ReportedTimes): CorrectedTime {
  const { occurred_at_ms, sent_at_ms, received_at_ms } = times
  const skew_ms = sent_at_ms === undefined ? null : received_at_ms - sent_at_ms
  if (occurred_at_ms === undefined) {
    return { occurred_at_ms: received_at_ms, clock: 'server', skew_ms }
  }
  const isSkewed = skew_ms !== null && Math.abs(skew_ms) > skewToleratedMs
  const moved_ms = isSkewed ? occurred_at_ms + skew_ms : occurred_at_ms
  const age_ms = received_at_ms - moved_ms
  if (age_ms < -skewToleratedMs || age_ms > maxEventAgeMs) {
    return { occurred_at_ms: received_at_ms, clock: 'server', skew_ms }
  }
  return {
    occurred_at_ms: Math.min(moved_ms, received_at_ms),
    clock: isSkewed ? 'corrected' : 'client',
    skew_ms,
  }
}

/** Values of metadata: short texts, numbers, flags. */
export type Metadata = Record<string, string | number | boolean>

/** Replaces a masked value. */
const mask = '[masked]'

/** Names of values that are masked in any form, because they are secrets or personal. */
const secretName =
  /pass(?:word|wd|phrase)?|secret|token|credential|authorization|cookie|session|private|api_?key|e_?mail/

/** Forms of secrets and of e-mail addresses. */
const secretForms: readonly RegExp[] = [
  projectKeyForm,
  /\b(?:sk|pk|rk|ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[abeprs]|AIza|hf|npm|dop_v1)[-_][A-Za-z0-9_-]{12,}/,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/,
  /\beyJ[\w-]{8,}\.[\w-]{8,}/,
  /-----BEGIN /,
  /\b(?:bearer|basic)\s+\S{8,}/i,
  /:\/\/[^\s/@:]*:[^\s/@]+@/,
  /[^\s@]+@[^\s@]+\.[^\s@]+/,
]

/** A long word of letters and digits, as keys and tokens are. */
const opaqueWord = /[A-Za-z0-9+/=_-]{32,}/g
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Returns whether a text may be a secret or an e-mail address. */
export function isSecretLike(text: string): boolean {
  if (secretForms.some((form) => form.test(text))) return true
  const words = text.match(opaqueWord) ?? []
  return words.some((word) => !uuid.test(word) && /[0-9]/.test(word) && /[A-Za-z]/.test(word))
}

/** Masks values that may be secrets. Returns the names of the masked values, sorted. */
export function maskMetadata(metadata: Metadata): { metadata: Metadata; masked: string[] } {
  const masked = Object.keys(metadata).filter((name) => {
    const value = metadata[name]
    return secretName.test(name) || (typeof value === 'string' && isSecretLike(value))
  })
  const shown = Object.entries(metadata).map(([name, value]) => [
    name,
    masked.includes(name) ? mask : value,
  ])
  return { metadata: Object.fromEntries(shown), masked: masked.toSorted() }
}
