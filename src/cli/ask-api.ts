import { z } from 'zod'
import { ConfigError, loadConfig, type RoleConfig } from '../platform/config/index.ts'
import { NoAnswer, UsageError } from './command.ts'

const answer_timeout_ms = 60_000

/** Names the command line in audit records. */
const userAgent = 'looptrace-cli'

/** Returns the URLs of API and proxy, and the key. Throws `UsageError` without a key. */
export function apiSettings(): { url: string; proxy_url: string; api_key: string } {
  const { url, api_key, proxy_url = url } = loadSettings()
  if (api_key === undefined) {
    throw new UsageError('LOOPTRACE_API_KEY is not set: set it to a project key')
  }
  return { url, proxy_url, api_key }
}

/** Who asks: a key, or a person's access token with the project if the token can see several. */
export type Credentials =
  | { api_key: string }
  | { access_token: string; project_id: string | undefined }

/**
 * Returns the URL of the API and the credentials for the data of a project: the key, else the access
 * token. Throws `UsageError` without either.
 */
export function projectSettings(): { url: string; credentials: Credentials } {
  const { url, api_key, access_token, project_id } = loadSettings()
  if (api_key !== undefined) return { url, credentials: { api_key } }
  if (access_token !== undefined) return { url, credentials: { access_token, project_id } }
  throw new UsageError(
    'LOOPTRACE_API_KEY is not set: set it to a key of a project or a service account, or set LOOPTRACE_ACCESS_TOKEN to your access token',
  )
}

/** Returns the URL of the proxy, and the key if it is set. */
export function proxySettings(): { proxy_url: string; api_key: string | undefined } {
  const { url, api_key, proxy_url = url } = loadSettings()
  return { proxy_url, api_key }
}

/** Returns the URL of the API, the access token and the project. Throws `UsageError` without a token. */
export function adminSettings(): {
  url: string
  access_token: string
  project_id: string | undefined
} {
  const { url, access_token, project_id } = loadSettings()
  if (access_token === undefined) {
    throw new UsageError(
      'LOOPTRACE_ACCESS_TOKEN is not set: set it to an access token of a project admin',
    )
  }
  return { url, access_token, project_id }
}

/** Returns the URL of the API and the credentials that are set: the key, or else the access token. */
export function readerSettings(): Pick<Asked, 'api_key' | 'access_token' | 'project_id'> & {
  url: string
} {
  const { url, api_key, access_token, project_id } = loadSettings()
  if (api_key !== undefined) return { url, api_key }
  if (access_token !== undefined) return { url, access_token, project_id }
  throw new UsageError(
    'LOOPTRACE_API_KEY is not set: set it to a project key, or LOOPTRACE_ACCESS_TOKEN to an access token',
  )
}

function loadSettings(): RoleConfig<'cli'> {
  try {
    return loadConfig('cli')
  } catch (error) {
    throw error instanceof ConfigError ? new UsageError(error.message) : error
  }
}

type Asked = {
  api_key?: string
  /** Sent instead of the key, to routes that accept no keys. */
  access_token?: string
  /** Project of an access token that can see several. */
  project_id?: string | undefined
  stop: AbortSignal
  /** Sent as JSON with POST; without a body the request is a GET. */
  body?: unknown
  /** Another method than GET without and POST with a body. */
  method?: 'PUT' | 'DELETE'
  /** Version that is changed or deleted. */
  if_match?: number
}

const tokenSchema = z.object({ access_token: z.string() })

/**
 * Exchanges the key of a service account for an access token, which routes need that accept no
 * keys. Throws like `askApi`, and `UsageError` for another kind of key.
 */
export async function accessTokenFor(
  url: string,
  { api_key, stop }: { api_key: string; stop: AbortSignal },
): Promise<string> {
  if (!api_key.startsWith('lt_sa_')) {
    throw new UsageError(
      'LOOPTRACE_API_KEY: expected a key of a service account, lt_sa_…, with the scope verification:run or traces:read',
    )
  }
  const body = { grant_type: 'client_credentials', client_secret: api_key }
  const answer = await askApi(new URL('/api/v1/auth/token', url), { api_key, stop, body })
  const read = tokenSchema.safeParse(answer)
  if (read.success) return read.data.access_token
  throw new NoAnswer(`${url}: the answer is not an access token: check LOOPTRACE_URL`)
}

/**
 * Asks the API and resolves with the body of its answer. Throws `UsageError` when the API refuses a
 * value, and `NoAnswer` otherwise.
 */
export async function askApi(url: URL, asked: Asked): Promise<unknown> {
  const { stop, body } = asked
  const signal = AbortSignal.any([stop, AbortSignal.timeout(answer_timeout_ms)])
  const method = asked.method ?? (body === undefined ? 'GET' : 'POST')
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  let response: Response
  try {
    response = await fetch(url, { method, headers: headersOf(asked), ...sent, signal })
  } catch (error) {
    const { message, cause } = error as Error
    throw new NoAnswer(`${url.origin}: ${cause instanceof Error ? cause.message : message}`)
  }
  const answer: unknown = await response.json().catch(() => undefined)
  if (response.ok) return answer
  const { detail, title } = (answer ?? {}) as { detail?: string; title?: string }
  const message = `${url.origin}: ${response.status} ${detail ?? title ?? response.statusText}`
  throw response.status === 400
    ? new UsageError(message)
    : new NoAnswer(message, { status: response.status })
}

function headersOf(asked: Asked): Record<string, string> {
  const { api_key, access_token, project_id, body, if_match } = asked
  return {
    ...(access_token === undefined
      ? api_key !== undefined && { 'x-api-key': api_key }
      : { authorization: `Bearer ${access_token}` }),
    'user-agent': userAgent,
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(project_id !== undefined && { 'x-project-id': project_id }),
    ...(if_match !== undefined && { 'if-match': `"${if_match}"` }),
  }
}
