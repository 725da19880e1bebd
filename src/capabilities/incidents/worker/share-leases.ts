/** The numbers of projects and workers that a worker knows when it claims. */
export type LeaseCounts = {
  /** Projects that this worker has. */
  held: number
  /** Projects that others have, living or dead, by their last claims. */
  elsewhere: number
  /** Projects without a holder. */
  free: number
  /** Living workers besides this one. */
  others: number
}

/** Numbers of projects to take, at most those that are free, and to give back. */
export type LeaseMove = { take: number; give: number }

/**
 * Shares out projects by count: each worker has at most ceil(projects / living workers), and gives
 * back what it has beyond that. Counts of others may be out of date; the next claim corrects it.
 */
export function shareLeases({ held, elsewhere, free, others }: LeaseCounts): LeaseMove {
  const share = Math.ceil((held + elsewhere + free) / (others + 1))
  return { take: Math.max(0, share - held), give: Math.max(0, held - share) }
}
