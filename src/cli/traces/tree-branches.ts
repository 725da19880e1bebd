/**
 * Draws the branches of a tree, such as `│  └─ `, for each node. Nodes are given by their depths, parents
 * before children; nodes at the depth of the first are roots, without branches.
 */
export function drawBranches(depths: readonly number[]): string[] {
  const [top = 0] = depths
  /** Whether a node at each depth follows, seen from the end. */
  const follows: boolean[] = []
  const drawn = depths.toReversed().map((depth) => {
    // Deeper nodes that follow are below this one or below a later one.
    follows.length = Math.min(follows.length, depth + 1)
    const bars = Array.from({ length: Math.max(0, depth - top - 1) }, (_, i) =>
      follows[top + 1 + i] === true ? '│  ' : '   ',
    )
    const own = depth <= top ? '' : follows[depth] === true ? '├─ ' : '└─ '
    follows[depth] = true
    return `${bars.join('')}${own}`
  })
  return drawn.toReversed()
}
