import { NotReady } from '../../contract.ts'

/** Somebody else writes at the same time: what was read back is not what was written. */
export function unsettled(what: string): NotReady {
  return new NotReady('NotApplied', `it was changed again while it was read back: ${what}`, {
    again_after_ms: 1_000,
  })
}
