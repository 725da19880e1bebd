import { doubts } from './doubts/doubt.ts'
import { exemptions } from './exemptions.ts'

/** Why a value was not checked, may be right without a source, or needs none. */
export const valueReasons = ['incomplete', ...doubts, ...exemptions] as const
export type ValueReason = (typeof valueReasons)[number]
