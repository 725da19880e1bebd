import type { Detector } from '../contract.ts'
import { contextDetectors } from './context/index.ts'
import { failureDetectors } from './failures/index.ts'
import { loopDetectors } from './loops/index.ts'

/** All detectors, in the order in which they run. */
export const detectors: readonly Detector[] = [
  ...loopDetectors,
  ...failureDetectors,
  ...contextDetectors,
]

/** Changes with each added, removed or changed detector. */
export const detectorsDigest: string = detectors
  .map(({ name, version }) => `${name}@${version}`)
  .join(' ')
