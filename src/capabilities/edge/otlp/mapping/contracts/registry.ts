import type { AnyMappingContract, MappingContract } from './contract-shape.ts'
import { phase9OtlpV1 } from './phase9-otlp-v1.ts'
import { phase9OtlpV1x1 } from './phase9-otlp-v1-1.ts'
import { phase9OtlpV1x2 } from './phase9-otlp-v1-2.ts'
import { phase9OtlpV1x3 } from './phase9-otlp-v1-3.ts'
import { phase9OtlpV1x4 } from './phase9-otlp-v1-4.ts'

/** All contracts that rows may refer to. A new version is a new file and an entry here. */
const contracts: readonly AnyMappingContract[] = [
  phase9OtlpV1,
  phase9OtlpV1x1,
  phase9OtlpV1x2,
  phase9OtlpV1x3,
  phase9OtlpV1x4,
]

/** The contract that maps new spans. */
export const currentContract: MappingContract = phase9OtlpV1x4

/** Returns the contract of a stored row; undefined when this build does not have the version. */
export function contractOf(version: string): AnyMappingContract | undefined {
  return contracts.find((contract) => contract.version === version)
}
