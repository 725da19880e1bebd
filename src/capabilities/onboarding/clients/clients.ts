import type { Client, Language } from './client.ts'
import { nodeClients, otherClients } from './other-clients.ts'
import { pythonClients } from './python-clients.ts'

/** The clients of `looptrace connect`, in the order of its list. To add one, add its row. */
export const clients: readonly Client[] = [...pythonClients, ...nodeClients, ...otherClients]

const variables: Record<Language, string> = {
  python: 'os.environ["LOOPTRACE_API_KEY"]',
  node: 'process.env.LOOPTRACE_API_KEY',
  shell: '$LOOPTRACE_API_KEY',
  toml: 'LOOPTRACE_API_KEY',
}

/** Returns the lines to paste; with `key` they hold the key itself, else the variable with it. */
export function linesOf(client: Client, { url, key }: { url: string; key?: string }): string[] {
  const { language, lines, lines_with_key = lines } = client
  const isQuoted = language === 'python' || language === 'node'
  const shown = isQuoted ? JSON.stringify(key) : String(key)
  const value = key === undefined ? variables[language] : shown
  const chosen = key === undefined ? lines : lines_with_key
  const isUsed = chosen.some((line) => line.includes('os.environ') || line.includes('<key>'))
  const needed = chosen.filter((line) => line !== 'import os' || isUsed)
  return needed.map((line) => line.replaceAll('<url>', url).replaceAll('<key>', () => value))
}

/**
 * Returns the base URL to set in a client, or null for one that only sends spans. A base URL that has the
 * project key in it has `key`, else the variable with it.
 */
export function baseUrlOf(
  { base, language }: Client,
  { url, key }: { url: string; key?: string },
): string | null {
  if (base === null) return null
  return `${url}${base.replace('<key>', () => key ?? variables[language])}`
}

/** Returns the table of the guide: each client with its base URL and the place of the project key. */
export function clientsTable(url: string): string[] {
  return [
    '| client | its default call | base URL | project key | `looptrace connect` |',
    '|---|---|---|---|---|',
    ...clients.map((client) => {
      const { name, title, calls, base, key_in } = client
      const base_url = baseUrlOf(client, { url, key: 'lt_…' })
      const more = base?.includes('<key>') ? ', and `/v1` where it needs that' : ''
      const set = base_url === null ? `\`${url}\` as endpoint` : `\`${base_url}\`${more}`
      const key = key_in.startsWith('the ') ? `in ${key_in}` : `header \`${key_in}\``
      return `| ${title} | ${calls} | ${set} | ${key} | \`${name}\` |`
    }),
  ]
}
