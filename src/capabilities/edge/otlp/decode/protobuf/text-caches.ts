import { IdCache } from './id-cache.ts'
import { TextCache } from './text-cache.ts'

/** What one decoder remembers from request to request, bounded. */
export type TextCaches = {
  readonly keys: TextCache
  readonly texts: TextCache
  readonly ids: IdCache
}

/** 4,096 places each: some hundreds of keys are in use at a time. At most some 2 MB together. */
const places = 4_096

export function newTextCaches(): TextCaches {
  return { keys: new TextCache(places), texts: new TextCache(places), ids: new IdCache() }
}
