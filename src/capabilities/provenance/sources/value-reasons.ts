import { doubts } from './doubt.ts'
import { exemptions } from './exemptions.ts'

/** Why a value was not checked, or needs no source. */
export const valueReasons = [...doubts, ...exemptions] as const
export type ValueReason = (typeof valueReasons)[number]
