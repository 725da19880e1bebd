import type { Json, Method } from './world.ts'

/** Stands in every name, text and chosen id of the victim, and in no request but those of cells. */
export const marker = 'zqvictimzq'

/** Calls as the victim. Throws unless the call succeeds. */
export type Must = (method: Method, path: string, body?: unknown) => Promise<Json>

export const v2 = '/api/v2/observability'
