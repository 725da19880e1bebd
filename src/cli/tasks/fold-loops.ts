import type { FindingReply } from './task-replies.ts'
import { keyOf, type TaskItem } from './task-steps.ts'

/** Items that are shown one by one, or a loop of which one iteration is shown. */
export type Section =
  | { kind: 'items'; items: readonly TaskItem[] }
  | {
      kind: 'loop'
      finding: FindingReply
      /** All items of the loop, in order. */
      items: readonly TaskItem[]
      /** The first iteration. */
      shown: readonly TaskItem[]
      repeats: number
    }

/**
 * Folds the iterations of loops, as the findings say; each item is in one section, in order. A loop is
 * folded if its steps follow each other: no step of another kind lies between its first and its last
 * step. Of overlapping loops, the one that begins first is folded.
 */
export function foldLoops(
  items: readonly TaskItem[],
  findings: readonly FindingReply[],
): Section[] {
  const stretches = findings
    .flatMap((finding) => stretchOf(items, finding) ?? [])
    .sort((a, b) => a.from - b.from || b.to - a.to)
  const sections: Section[] = []
  let at = 0
  for (const { from, to, finding, period, repeats } of stretches) {
    if (from < at) continue
    if (from > at) sections.push({ kind: 'items', items: items.slice(at, from) })
    const loop = items.slice(from, to + 1)
    sections.push({ kind: 'loop', finding, items: loop, shown: firstSteps(loop, period), repeats })
    at = to + 1
  }
  if (at < items.length) sections.push({ kind: 'items', items: items.slice(at) })
  return sections
}

/** A finding names this many places at most. */
const places_max = 100

type Stretch = { from: number; to: number; finding: FindingReply; period: number; repeats: number }

/** Finds the first and last item of a loop; undefined if its steps do not follow each other. */
function stretchOf(items: readonly TaskItem[], finding: FindingReply): Stretch | undefined {
  const loop = loopOf(finding)
  if (loop === undefined) return undefined
  const named = new Set(finding.places.map(keyOf))
  const steps = items.flatMap(({ call, step }, at) =>
    call === undefined || step === null ? [] : { key: keyOf(call), at },
  )
  const first = steps.findIndex(({ key }) => key === loop.first)
  const row = first < 0 ? [] : steps.slice(first, first + loop.length)
  const [start, end] = [row[0], row.at(-1)]
  if (start === undefined || end === undefined || row.length < loop.length) return undefined
  // Of a long loop, the finding names the first steps only.
  const isRow = row.slice(0, places_max).every(({ key }) => named.has(key))
  return isRow ? { ...loop, from: start.at, to: end.at, finding } : undefined
}

/** Returns the numbers of a loop of several iterations; undefined for another finding. */
function loopOf({
  kind,
  period,
  repeats,
  start_step,
  end_step,
  places: [place, ...more],
}: FindingReply) {
  if (kind !== 'loop' || place === undefined || !period || !repeats || repeats < 2) return undefined
  const length = (end_step ?? 0) - (start_step ?? 0) + 1
  const isNamed = more.length + 1 === Math.min(length, places_max)
  return isNamed && length > period ? { first: keyOf(place), length, period, repeats } : undefined
}

function firstSteps(loop: readonly TaskItem[], period: number): TaskItem[] {
  let steps = 0
  const end = loop.findIndex(({ step }) => {
    if (step !== null) steps += 1
    return steps > period
  })
  return loop.slice(0, end === -1 ? loop.length : end)
}
