/** A claim to compare. Claims with equal digests are paired in order of position. */
type DiffedClaim = { digest: string; verdict: string }

/** The difference between the claims of two runs. Claims are equal when their digests are. */
export type ClaimsDiff<Claim> = {
  /** Claims of the second run only. */
  added: Claim[]
  /** Claims of the first run only. */
  removed: Claim[]
  /** Claims of both runs with another verdict, as they are in each run. */
  changed: { from: Claim; to: Claim }[]
  unchanged: number
}

/** Compares the claims of two runs, each in order of position. */
export function diffClaims<Claim extends DiffedClaim>(
  from: readonly Claim[],
  to: readonly Claim[],
): ClaimsDiff<Claim> {
  const waiting = Map.groupBy(from, ({ digest }) => digest)
  const diff: ClaimsDiff<Claim> = { added: [], removed: [], changed: [], unchanged: 0 }
  const paired = new Set<Claim>()
  for (const claim of to) {
    const before = waiting.get(claim.digest)?.shift()
    if (before === undefined) {
      diff.added.push(claim)
      continue
    }
    paired.add(before)
    if (before.verdict === claim.verdict) diff.unchanged += 1
    else diff.changed.push({ from: before, to: claim })
  }
  diff.removed = from.filter((claim) => !paired.has(claim))
  return diff
}
