import type { MappingContract } from './contract-shape.ts'
import { phase9OtlpV1 } from './phase9-otlp-v1.ts'

/** Every contract that rows may name; a new version is a new file and a line here. */
const contracts: readonly MappingContract[] = [phase9OtlpV1]

/** The contract that new spans are mapped by. */
export const currentContract: MappingContract = phase9OtlpV1

/** The contract of a stored row; undefined when this build does not know the version. */
export function contractOf(version: string): MappingContract | undefined {
  return contracts.find((contract) => contract.version === version)
}
