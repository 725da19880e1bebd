import { isoFromNs } from '../../../../kernel/time.ts'
import { instantParameter, windowWithin } from '../../../../model/list-query.ts'

/** Query parameters of the window of an alert route. */
export const windowQuery = {
  from: instantParameter('Start of the window, inclusive. Default: one day before `to`.'),
  to: instantParameter('End of the window, exclusive, at most 90 days after `from`. Default: now.'),
}

/** A window, ISO 8601: `from` inclusive, `to` exclusive. */
export type AlertWindow = { from: string; to: string }

/** Returns the window of a request. Throws `invalid_request` for one that is empty or too long. */
export function alertWindow(
  { from, to }: { from?: bigint | undefined; to?: bigint | undefined },
  now_ms: number,
): AlertWindow {
  const window = windowWithin({ from, to }, { now_ms, days_default: 1, days_max: 90 })
  return { from: isoFromNs(window.from), to: isoFromNs(window.to) }
}
