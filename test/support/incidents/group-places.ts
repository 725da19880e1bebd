/** One evaluation of a rule: the groups with rows, and those with an open incident. */
export type Sighting = {
  readonly at_ms: number
  readonly groups: readonly string[]
  readonly open: readonly string[]
}

/** The groups that are evaluated, and the number of groups with rows beyond the limit. */
export type Places = { readonly live: readonly string[]; readonly overflow: number }

/** Bounds of the groups of a rule. */
export type PlaceBounds = { readonly groups_max: number; readonly forget_after_ms: number }

/**
 * Returns the places after the last of several evaluations. First come, first served; a place is
 * free once its group had no rows for `forget_after_ms` and has no open incident.
 */
export function placesAfter(sightings: readonly Sighting[], bounds: PlaceBounds): Places {
  const now = sightings.at(-1)
  if (now === undefined) return { live: [], overflow: 0 }
  const before = placesAfter(sightings.slice(0, -1), bounds).live
  const staying = before.filter((group) => {
    const seen = sightings.findLast(({ groups }) => groups.includes(group))
    const isRecent = now.at_ms - (seen?.at_ms ?? 0) < bounds.forget_after_ms
    return isRecent || now.open.includes(group)
  })
  const coming = now.groups.filter((group) => !staying.includes(group))
  const live = [...staying, ...coming].slice(0, Math.max(bounds.groups_max, staying.length))
  return { live, overflow: now.groups.filter((group) => !live.includes(group)).length }
}
