import type { AnyMappingContract, MappingContract } from './contract-shape.ts'
import { phase9OtlpV1 } from './phase9-otlp-v1.ts'
import { phase9OtlpV1x1 } from './phase9-otlp-v1-1.ts'

/** Every contract that rows may name; a new version is a new file and a line here. */
const contracts: readonly AnyMappingContract[] = [phase9OtlpV1, phase9OtlpV1x1]

/** The contract that new spans are mapped by. */
export const currentContract: MappingContract = phase9OtlpV1x1

/** The contract of a stored row; undefined when this build does not know the version. */
export function contractOf(version: string): AnyMappingContract | undefined {
  return contracts.find((contract) => contract.version === version)
}
