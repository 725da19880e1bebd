/** Formats names with values as `team=payments, tier=1`. */
export function formatPairs(pairs: Readonly<Record<string, string>> | undefined): string {
  return Object.entries(pairs ?? {})
    .map(([name, value]) => `${name}=${value}`)
    .join(', ')
}

/** Parses `team=payments, tier=1`. A part without `=` has an empty value, which the API refuses. */
export function parsePairs(text: string): Record<string, string> {
  const parts = text.split(',').filter((part) => part.trim() !== '')
  return Object.fromEntries(
    parts.map((part) => {
      const at = part.indexOf('=')
      if (at < 0) return [part.trim(), '']
      return [part.slice(0, at).trim(), part.slice(at + 1).trim()]
    }),
  )
}
