import { hash } from 'node:crypto'
import { canonicalJson } from '../../../kernel/canonical-json.ts'
import { durationMs } from '../../../kernel/duration.ts'
import { type Problem, problem } from '../../../kernel/problem.ts'
import type { Baseline } from '../evidence/contract.ts'
import { maxEvalRuns } from '../evidence/read-eval-cases.ts'
import type { PolicyInForce } from '../policies/policy-in-force.ts'

const day_ms = 86_400_000
/** Maximum length of a window. */
export const window_days_max = 90

/** A request for a certification. Times are ISO 8601. */
export type CertificationRequest = {
  release: { name: string; version: string; image_digest: string | null; tags: string[] | null }
  /** Empty for tasks without an environment. */
  environment: string
  policy_id: string
  window: { from?: string | undefined; to?: string | undefined } | null
  baseline: {
    name: string | null
    version: string
    tags: string[] | null
    environment: string | null
    window: { from: string; to: string } | null
    eval_run_ids: string[]
  } | null
  eval_run_ids: string[]
}

/** The plan that the first certification of a release by a policy declares. */
export type Plan = {
  window_from: string
  release_tags: string[]
  baseline: Baseline | null
  eval_run_ids: string[]
}

/** Returns the id of the subject: the digest of the image, else the SHA-256 of `name@version`. */
export function subjectOf({
  name,
  version,
  image_digest,
}: CertificationRequest['release']): string {
  return image_digest ?? hash('sha256', `${name}@${version}`)
}

/** Returns the digest of a request, which identifies repeated requests. */
export function digestRequest(request: CertificationRequest): string {
  return hash('sha256', canonicalJson(request))
}

/** Returns the end of the window; by default now. */
export function windowEnd({ window }: CertificationRequest, now_ms: number): string {
  return new Date(window?.to ?? now_ms).toISOString()
}

/**
 * Returns the plan of the first certification of a release. If the request has no window, the
 * window begins the policy's `max_age` before its end.
 */
export function firstPlan(
  request: CertificationRequest,
  { policy, now_ms }: { policy: PolicyInForce; now_ms: number },
): Plan {
  const to = windowEnd(request, now_ms)
  const from_ms = Date.parse(to) - durationMs(policy.document.max_age)
  const window_from = new Date(request.window?.from ?? from_ms).toISOString()
  return {
    window_from,
    release_tags: tagsOf(request.release),
    baseline: baselineOf(request, { from: window_from, to }),
    eval_run_ids: request.eval_run_ids,
  }
}

/**
 * Returns the plan with the eval runs of a later look. Evidence accumulates: the start of the
 * window stays, and all earlier eval runs are kept. Throws `certification_plan_conflict`.
 */
export function extendPlan(plan: Plan, request: CertificationRequest): Plan {
  const { window, baseline, release } = request
  if (window?.from !== undefined && Date.parse(window.from) !== Date.parse(plan.window_from)) {
    throw conflict('window.from', plan.window_from)
  }
  if (release.tags !== null && !isSame(tagsOf(release), plan.release_tags)) {
    throw conflict('release.tags', plan.release_tags.join(', '))
  }
  const declared = plan.baseline
  const again = baseline && { ...baseline, window: baseline.window ?? declared?.window ?? null }
  const given = baselineOf({ ...request, baseline: again }, { from: '', to: '' })
  if (given !== null && !isSame(given, declared)) {
    throw conflict('baseline', declared === null ? 'none' : `${declared.name}@${declared.version}`)
  }
  const eval_run_ids = [...new Set([...plan.eval_run_ids, ...request.eval_run_ids])]
  return { ...plan, eval_run_ids }
}

/** Throws `invalid_request` for a window or eval runs out of bounds. */
export function checkPlan(plan: Plan, to: string): void {
  const length_ms = Date.parse(to) - Date.parse(plan.window_from)
  if (!(length_ms > 0 && length_ms <= window_days_max * day_ms)) {
    const got = `got ${plan.window_from} to ${to}`
    throw invalid(
      '/window',
      `${got}, expected \`from\` before \`to\`, at most ${window_days_max} days`,
    )
  }
  if (plan.eval_run_ids.length > maxEvalRuns) {
    const got = `got ${plan.eval_run_ids.length} with those of earlier looks`
    throw invalid('/eval_run_ids', `${got}, expected at most ${maxEvalRuns}`)
  }
}

/** Returns the error of a faulty field. */
export function invalid(pointer: string, detail: string): Problem {
  return problem('invalid_request', {
    detail: `${pointer.slice(1)}: ${detail}`,
    faults: [{ pointer, detail }],
  })
}

function tagsOf({ name, version, tags }: { name: string; version: string; tags: string[] | null }) {
  return tags === null ? [version, `${name}@${version}`] : [...new Set(tags)].sort()
}

/**
 * Returns the baseline. Its default window starts 30 days before the release's, and ends with it.
 */
function baselineOf(
  { baseline, release, environment }: CertificationRequest,
  { from, to }: { from: string; to: string },
): Baseline | null {
  if (baseline === null) return null
  const name = baseline.name ?? release.name
  const { version, tags, window } = baseline
  const default_ms = { from: Date.parse(from) - baselineDays * day_ms, to: Date.parse(to) }
  return {
    name,
    version,
    tags: tagsOf({ name, version, tags }),
    environment: baseline.environment ?? environment,
    window: {
      from: toIso(window?.from ?? default_ms.from),
      to: toIso(window?.to ?? default_ms.to),
    },
    eval_run_ids: [...new Set(baseline.eval_run_ids)].sort(),
  }
}

const baselineDays = 30

/** Returns an instant with milliseconds; the minimum instant for an invalid one. */
function toIso(instant: string | number): string {
  const at_ms = new Date(instant).getTime()
  return new Date(Number.isFinite(at_ms) ? at_ms : 0).toISOString()
}

function isSame(one: unknown, other: unknown): boolean {
  return canonicalJson(one) === canonicalJson(other)
}

function conflict(field: string, declared: string): Problem {
  return problem('certification_plan_conflict', {
    detail:
      `${field}: the first certification of this release declared ${declared}. ` +
      'Omit the field, or repeat its value. A new version can declare another plan.',
  })
}
