import { z } from 'zod'
import type { Detector, FindingDraft, Severity } from '../../contract.ts'
import {
  type CallFault,
  callsOf,
  countTimes,
  createCourse,
  cutText,
  faultOfCall,
  isQuota,
  placeOf,
  providerErrorTypes,
  putInBrackets,
  type RunCourse,
  streaksOf,
  toFailureDraft,
  wasteOf,
} from '../../facts/index.ts'
import type { ModelCall, TaskRun } from '../../reconstruction/index.ts'

const settings = z.strictObject({
  streak_high: z
    .int()
    .min(1)
    .max(100)
    .default(3)
    .describe(
      'Minimum failed calls of a kind in a row for high severity of an unrecovered transient error ' +
        '(429, 5xx, time-out, connection). 3: the providers’ client libraries retry twice.',
    ),
})

/**
 * Finds calls that the provider did not answer: key, model name, limits, server errors, time-outs,
 * connection. Consecutive failures of one kind are one finding; a later answer recovers it.
 * https://platform.openai.com/docs/guides/error-codes
 */
export const providerError: Detector<typeof settings> = {
  name: 'provider_error',
  kind: 'failure',
  types: providerErrorTypes,
  version: 1,
  needs: [],
  settings,
  detect(run, { streak_high }, budget) {
    const course = createCourse(run)
    return run.threads.flatMap((thread) => {
      budget.spend(thread.calls.length)
      return streaksOf(callsOf(run, thread), faultOfCall).flatMap(({ key, items }) =>
        isProviderFault(key) ? [toFinding({ run, course, streak_high }, key, items)] : [],
      )
    })
  },
}

type ProviderFault = Exclude<CallFault, 'content_filter' | 'context_overflow'>

function isProviderFault(fault: CallFault): fault is ProviderFault {
  return fault !== 'content_filter' && fault !== 'context_overflow'
}

type StreakContext = { run: TaskRun; course: RunCourse; streak_high: number }

function toFinding(
  context: StreakContext,
  type: ProviderFault,
  calls: readonly ModelCall[],
): FindingDraft {
  const [first] = calls
  const last = calls.at(-1)
  if (first === undefined || last === undefined) throw new RangeError('expected at least one call')
  const recovered = context.course.recoversAfter(last)
  const isOutOfQuota = type === 'provider_rate_limit' && isQuota(last)
  const isLasting = isOutOfQuota || lastingFaults.has(type) || calls.length >= context.streak_high
  const severity: Severity = isLasting ? 'high' : 'medium'
  return toFailureDraft({
    type,
    severity,
    recovered,
    began: first,
    summary: summaryOf({ type, calls, last, recovered }),
    start_step: first.step,
    end_step: last.step,
    places: calls.map(placeOf),
    repeats: calls.length,
    waste: wasteOf(context.run, calls),
    evidence: {
      calls: calls.length,
      status_code: last.status_code,
      outcome: last.outcome,
      error_type: cutText(last.error_type),
      error_message: cutText(last.error_message),
      provider: last.provider,
      model: last.model,
      ...(isOutOfQuota ? { quota_used_up: true } : {}),
    },
  })
}

/** Errors that a retry does not fix. */
const lastingFaults = new Set<CallFault>([
  'provider_auth',
  'provider_not_found',
  'provider_bad_request',
])

const message_chars_max = 120

type StreakEnd = {
  type: ProviderFault
  calls: readonly ModelCall[]
  last: ModelCall
  recovered: boolean
}

function summaryOf({ type, calls, last, recovered }: StreakEnd): string {
  const who = last.provider === '' ? 'The provider' : last.provider
  const code = last.status_code >= 400 ? `${last.status_code}` : last.error_type
  const said = putInBrackets(code, cutText(last.error_message, message_chars_max))
  const end = recovered ? 'a later call went well' : 'no later call went well'
  return `${who} ${faultPhrases[type]} ${countTimes(calls.length)}${said}; ${end}.`
}

const faultPhrases: Record<ProviderFault, string> = {
  provider_auth: 'refused the key',
  provider_not_found: 'did not know what was asked for',
  provider_rate_limit: 'refused for its rate limit',
  provider_bad_request: 'refused the request',
  provider_server_error: 'failed',
  provider_timeout: 'took too long',
  provider_connection: 'was cut off or could not be reached',
  provider_error: 'gave an error',
}
