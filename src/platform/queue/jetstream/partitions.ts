import { defaultStreamPrefix } from './jetstream-streams.ts'

/**
 * Returns the prefix of the streams and subjects of a partition. The first one has the names of a
 * queue without partitions.
 */
export function partitionPrefix(prefix = defaultStreamPrefix, partition = 0): string {
  return partition === 0 ? prefix : `${prefix}-p${partition}`
}

/** Returns the number of partitions of a queue that has these streams: at least 1. */
export function countPartitions(streams: Iterable<string>, prefix = defaultStreamPrefix): number {
  const own = new Map(
    Array.from({ length: partitions_max }, (_, at) => [`${partitionPrefix(prefix, at)}_queue`, at]),
  )
  let count = 1
  for (const stream of streams) count = Math.max(count, (own.get(stream) ?? 0) + 1)
  return count
}

/** Most partitions of a queue. */
const partitions_max = 64

/** Returns the partition of a subject `<kind>.<project>`: by a hash of the project (FNV-1a). */
export function partitionOf(subject: string, partitions: number): number {
  if (partitions === 1) return 0
  let hash = 0x811c9dc5
  for (let at = subject.indexOf('.') + 1; at < subject.length; at += 1) {
    hash = Math.imul(hash ^ subject.charCodeAt(at), 0x01000193)
  }
  // The low bits of FNV-1a alone are uneven.
  return ((hash ^ (hash >>> 16)) >>> 0) % partitions
}
