/** The search part of a URL: plain `name=value` pairs, so that people can read and write them. */
export type Search = Readonly<Record<string, string | undefined>>

/** Parses the search part of a URL. Of a name that occurs twice, the last value counts. */
export function parseSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text))
}

/** Formats a search part. Empty values are left out. */
export function formatSearch(search: Record<string, unknown>): string {
  const pairs = Object.entries(search).filter(([, value]) => value !== undefined && value !== '')
  const text = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString()
  return text === '' ? '' : `?${text}`
}

/** Returns a path of this console to open after the sign-in. Other addresses become `/`. */
export function safeReturn(to: string | undefined): string {
  return to !== undefined && /^\/(?![/\\])/.test(to) ? to : '/'
}
