import type { Detector } from '../../contract.ts'

/** Every detector of loops, in the order in which they run. */
export const loopDetectors: readonly Detector[] = []
