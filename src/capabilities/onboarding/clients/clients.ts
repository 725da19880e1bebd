import { z } from 'zod'
import { record } from '../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../platform/http/index.ts'
import { readScope } from '../contract.ts'
import { type Client, type Language, languages } from './client.ts'
import { nodeClients, otherClients } from './other-clients.ts'
import { pythonClients } from './python-clients.ts'

/** Placeholder of the project key in lines that contain the key. */
const key = '<key>'

const reply = record('OnboardingClients', {
  url: z.string().describe('Base URL of Looptrace in the lines.'),
  clients: z
    .array(
      record('OnboardingClient', {
        name: z.string().describe('Argument of `looptrace connect`.'),
        title: z.string(),
        calls: z.string().describe('API of its default call, or how it sends spans.'),
        language: z.enum(languages).meta({ id: 'OnboardingLanguage' }),
        place: z.string().describe('File or place for the lines.'),
        base_url: z
          .string()
          .nullable()
          .describe(
            `Base URL to set in the client, with \`${key}\` for a key that is part of it; null for a client that only sends spans.`,
          ),
        key_in: z
          .string()
          .describe('Where the project key goes: a header, or another place in words.'),
        lines: z
          .array(z.string())
          .describe('Lines to paste. They read the key from the variable `LOOPTRACE_API_KEY`.'),
        lines_with_key: z
          .array(z.string())
          .describe(`The same lines with \`${key}\` in place of the key itself.`),
        advice: z
          .array(z.string())
          .describe('Checks to make, in this order, while no call arrives.'),
      }),
    )
    .describe('Clients, in the order of `looptrace connect`.'),
})

const url_chars_max = 2_048

/** An address of a server, without characters that a shell or a program would interpret. */
const address =
  /^https?:\/\/(?:[A-Za-z0-9.-]+|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?(?:\/[A-Za-z0-9._~/-]*)?$/

const query = z.strictObject({
  url: z
    .string()
    .max(url_chars_max)
    .regex(address, 'expected an http or https URL without user, query and quotes')
    .describe('Base URL at which the clients reach Looptrace.'),
})

/** GET /api/v1/onboarding/clients: the clients of `looptrace connect` and the lines for each. */
export function getOnboardingClients(): Route {
  return defineRoute({
    method: 'GET',
    url: '/api/v1/onboarding/clients',
    id: 'getOnboardingClients',
    summary: 'Clients that can be pointed at Looptrace, with the lines to paste',
    auth: 'jwt_or_key',
    scope: readScope,
    query,
    reply,
    errors: [],
    handle: async ({ query }) => {
      const url = query.url.replace(/\/+$/, '')
      return {
        url,
        clients: clients.map((client) => {
          const { name, title, calls, language, place, key_in } = client
          return {
            name,
            title,
            calls,
            language,
            place,
            key_in,
            base_url: baseUrlOf(client, { url, key }),
            lines: linesOf(client, { url }),
            lines_with_key: linesOf(client, { url, key }),
            advice: adviceFor(client),
          }
        }),
      }
    },
  })
}

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

/** Returns what keeps calls of a client from arriving, in the order in which to check it. */
export function adviceFor({ base, key_in, language }: Client): string[] {
  const refused = [
    `401 "the project key is missing": the key is not in ${key_in.startsWith('the ') ? key_in : `the header ${key_in}`}.`,
    '401 "the project key is unknown or revoked": the key belongs to another installation, or was revoked.',
    '403: the key lacks the scope proxy:write; spans need ingest:write.',
  ]
  const variables =
    language === 'shell' ? ['Start the client in the shell that has the variables.'] : []
  return [
    'Calls that Looptrace refuses are not recorded; the client shows them as its own errors:',
    ...refused,
    `404: ${pathRule(base)}.`,
    'No error and no call: the client still uses its own base URL. Check that these lines run.',
    ...variables,
  ]
}

function pathRule(base: Client['base']): string {
  if (base === null) return 'the endpoint must be the URL alone, without a path'
  if (base === '') return 'the base URL must end in the port, without a path'
  if (base !== '/k/<key>') return `the base URL must end in "${base}"`
  return 'the base URL must end in "/k/" and the project key, with "/v1" after it if the client adds no version'
}
