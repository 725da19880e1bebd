/** An event as it is sent. */
export type SentEvent = {
  event: string
  data: object
  /** Id for `Last-Event-ID`. */
  id?: string
  /** Delay before the client connects again, in ms. */
  retry_ms?: number
}

/**
 * Formats an event (https://html.spec.whatwg.org/multipage/server-sent-events.html). JSON has no line
 * break, so the data is one line.
 */
export function eventText({ event, data, id, retry_ms }: SentEvent): string {
  const retry = retry_ms === undefined ? '' : `retry: ${retry_ms}\n`
  const named = id === undefined ? '' : `id: ${id}\n`
  return `${retry}${named}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}

/** Formats a comment that keeps the connection open. The client notes the id, and sees no event. */
export function keepAliveText(id: string): string {
  return `: keep-alive\nid: ${id}\n\n`
}

/** Returns a delay in ms between two bounds, so that many clients do not connect again at once. */
export function randomDelay(min_ms: number, max_ms: number, random = Math.random): number {
  return Math.round(min_ms + (max_ms - min_ms) * random())
}
