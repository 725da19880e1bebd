/** Names of fields whose values are secrets. */
const secretName =
  /(^|_)(password|passphrase|secret|token|credential|credentials|authorization|cookie|key|signature|dsn)s?$/i

/** Names of fields with texts of users and agents. Only their length is recorded. */
const contentName =
  /(^|_)(content|text|body|prompt|answer|question|comment|correction|note|quote|html|markdown)$/i

const depth_max = 6
const entries_max = 50
const maxTextLength = 256

/**
 * Returns the requested values for the audit record. Replaces secrets by `[masked]`, removes path
 * and query from addresses of receivers (they are often secret), replaces content and long texts by
 * their length, and truncates large objects.
 */
export function maskChange(value: unknown, shown_once: readonly string[] = []): unknown {
  return mask(value, { name: '', depth: 0, secrets: new Set(shown_once) })
}

type At = { name: string; depth: number; secrets: ReadonlySet<string> }

function mask(value: unknown, at: At): unknown {
  if (value === null || typeof value === 'boolean') return value
  if (at.secrets.has(at.name) || secretName.test(at.name)) return '[masked]'
  if (typeof value === 'number') return value
  if (typeof value === 'string') return maskText(value, at.name)
  if (typeof value !== 'object') return null
  if (value instanceof Uint8Array) return `[${value.length} bytes]`
  if (at.depth >= depth_max) return '[nested]'
  const deeper = { ...at, depth: at.depth + 1 }
  if (Array.isArray(value)) return maskList(value, deeper)
  const isHeaders = /headers$/i.test(at.name)
  const entries = Object.entries(value).slice(0, entries_max)
  return Object.fromEntries(
    entries.map(([name, item]) => [
      name.slice(0, maxTextLength),
      isHeaders ? '[masked]' : mask(item, { ...deeper, name }),
    ]),
  )
}

function maskList(values: readonly unknown[], at: At): unknown[] {
  const shown = values.slice(0, entries_max).map((item) => mask(item, at))
  const more = values.length - shown.length
  return more > 0 ? [...shown, `[${more} more]`] : shown
}

function maskText(text: string, name: string): string {
  if (contentName.test(name)) return `[${text.length} characters]`
  const address = /^https?:/i.test(text) ? URL.parse(text) : null
  if (address !== null) return `${address.origin}/[masked]`
  return text.length > maxTextLength ? `[${text.length} characters]` : text
}
