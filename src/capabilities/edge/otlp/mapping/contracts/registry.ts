import type { MappingContract } from './contract-shape.ts'
import { phase9OtlpV1 } from './phase9-otlp-v1.ts'

/** The contract that maps new spans. */
export const currentContract: MappingContract = phase9OtlpV1

/** All contracts that rows may refer to. A new version is a new file and an entry here. */
export const contracts: readonly MappingContract[] = [currentContract]
