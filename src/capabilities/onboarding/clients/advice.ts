import type { Client } from './client.ts'

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
