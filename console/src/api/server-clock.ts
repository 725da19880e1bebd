let ahead_ms = 0

/** A difference below this is the age of the reply, and of the whole seconds of its date. */
const tolerated_ms = 5_000

/** Notes the date of a reply. The clock of the browser may be wrong, even by hours. */
export function noteServerDate(date: string | null, now_ms: number): void {
  const at_ms = Date.parse(date ?? '')
  if (Number.isNaN(at_ms)) return
  const difference_ms = at_ms - now_ms
  ahead_ms = Math.abs(difference_ms) > tolerated_ms ? difference_ms : 0
}

/** Returns the time of the server at a time of the browser; both in milliseconds since 1970. */
export function serverTime(now_ms: number): number {
  return now_ms + ahead_ms
}

/** Returns the present time of the server. Ranges end there, and ages count from there. */
export function serverNow(): number {
  return serverTime(Date.now())
}
