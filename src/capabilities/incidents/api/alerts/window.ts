import { problem } from '../../../../kernel/problem.ts'
import { isoFromNs } from '../../../../kernel/time.ts'
import { checkWindow, instantParameter } from '../../../../model/list-query.ts'

const day_ms = 86_400_000
const days_max = 90

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
  const to_ns = to ?? BigInt(now_ms) * 1_000_000n
  const from_ns = from ?? to_ns - BigInt(day_ms) * 1_000_000n
  checkWindow({ from: from_ns, to: to_ns })
  const detail = `got a window of more than ${days_max} days, expected ${days_max} days at most`
  if (to_ns - from_ns <= BigInt(days_max * day_ms) * 1_000_000n) {
    return { from: isoFromNs(from_ns), to: isoFromNs(to_ns) }
  }
  throw problem('invalid_request', {
    detail: `query.from: ${detail}`,
    faults: [{ pointer: 'query.from', detail }],
  })
}
