import { z } from 'zod'
import { record } from '../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../platform/http/index.ts'
import { adviceFor } from './clients/advice.ts'
import { languages } from './clients/client.ts'
import { baseUrlOf, clients, linesOf } from './clients/clients.ts'
import { readScope } from './contract.ts'

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
            ...{ name, title, calls, language, place, key_in },
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
