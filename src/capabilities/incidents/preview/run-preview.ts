import { setImmediate } from 'node:timers/promises'
import { durationMs } from '../../../kernel/duration.ts'
import { type Problem, problem } from '../../../kernel/problem.ts'
import type { MeasureRange } from '../ports.ts'
import type { DefaultRoute } from '../rules/default-route.ts'
import type { Rule } from '../rules/rule.ts'
import { type PreviewResult, type Range, RulePreview } from './rule-preview.ts'
import type { StoredMatches } from './stored-findings.ts'

/** Maximum slots or findings of a preview: 28 days at one slot a minute. */
const slots_max = 40_320

const timeByDefaultMs = 30_000

/** Steps between two yields to other requests; a step takes about 10 µs. */
const batch = 500

/** Stores that a preview reads. */
export type PreviewParts = {
  measureRange: MeasureRange
  readMatches: (
    request: { project_id: string; rule: Rule; range: Range },
    limit: number,
  ) => Promise<StoredMatches>
}

export type PreviewRequest = {
  project_id: string
  rule: Rule
  range: Range
  /** The channels of rules that name none. */
  route?: DefaultRoute | undefined
  signal: AbortSignal
  /** 30 s by default. */
  time_ms_max?: number
}

/** A result, and the start of the stored rows; undefined without rows. */
export type Previewed = PreviewResult & { available_from_ms: number | undefined }

/**
 * Evaluates a rule on stored rows. Throws `query_too_expensive` after `time_ms_max`, `store_unavailable`, or
 * the reason of the signal.
 */
export async function runPreview(parts: PreviewParts, request: PreviewRequest): Promise<Previewed> {
  const { rule, range, time_ms_max = timeByDefaultMs } = request
  const late = AbortSignal.timeout(time_ms_max)
  const signal = AbortSignal.any([request.signal, late])
  const preview = new RulePreview(rule, range, request.route)
  try {
    const run = rule.event === undefined ? addSlots : addMatches
    const available_from_ms = await run(parts, { ...request, signal }, preview)
    return { ...preview.result(), available_from_ms }
  } catch (error) {
    request.signal.throwIfAborted()
    throw late.aborted ? tooLong(time_ms_max) : error
  }
}

/** Throws `invalid_request` if a range has more slots than a preview evaluates. */
export function checkSlots({ interval, event }: Rule, { from_ms, to_ms }: Range): void {
  const slots = Math.ceil((to_ms - from_ms) / durationMs(interval))
  if (event !== undefined || slots <= slots_max) return
  const detail = `the range has ${slots} slots of ${interval}, expected at most ${slots_max}. Shorten the range, or use a longer interval`
  throw problem('invalid_request', {
    detail: `/rule/interval: ${detail}`,
    faults: [{ pointer: '/rule/interval', detail }],
  })
}

async function addSlots(
  { measureRange }: PreviewParts,
  { project_id, rule, range, signal }: PreviewRequest,
  preview: RulePreview,
): Promise<number | undefined> {
  const measured = await measureRange({ project_id, rule, ...range, signal })
  preview.addEarlier(measured.earlier, range.from_ms)
  let steps = 0
  for await (const slot of measured.slots) {
    steps += Math.max(preview.addSlot(slot), 1)
    if (steps >= batch) steps = await yieldTo(signal)
  }
  return measured.available_from_ms
}

async function addMatches(
  { readMatches }: PreviewParts,
  { signal, ...request }: PreviewRequest,
  preview: RulePreview,
): Promise<number | undefined> {
  const { matches, is_cut, available_from_ms } = await readMatches(request, slots_max)
  if (is_cut) {
    const detail = `The range has more than ${slots_max} findings. Shorten the range.`
    throw problem('query_too_expensive', { detail })
  }
  let steps = 0
  for (const { group, at_ms } of matches) {
    preview.addMatch(group, at_ms)
    steps += 1
    if (steps >= batch) steps = await yieldTo(signal)
  }
  return available_from_ms
}

/** Lets other requests be served. Returns the number of steps since. */
async function yieldTo(signal: AbortSignal): Promise<0> {
  await setImmediate()
  signal.throwIfAborted()
  return 0
}

function tooLong(time_ms_max: number): Problem {
  return problem('query_too_expensive', {
    detail: `The preview took more than ${time_ms_max / 1000} s. Shorten the range, or group by fewer dimensions.`,
  })
}
