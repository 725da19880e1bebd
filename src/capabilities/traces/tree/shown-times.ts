import { isoFromNs } from '../../../kernel/time.ts'

/** Nanoseconds as milliseconds. */
export function msFrom(ns: number): number {
  return ns / 1_000_000
}

/** An instant of a tree, which counts from `origin_ns`, as ISO 8601. */
export function isoAt(origin_ns: bigint, ns: number): string {
  return isoFromNs(origin_ns + BigInt(Math.round(ns)))
}
