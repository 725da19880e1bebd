import { ConfigError, loadConfig, type RoleConfig } from '../platform/config/index.ts'
import { NoAnswer, UsageError } from './command.ts'

const answer_timeout_ms = 60_000

/** Returns URL and key of the API. Throws `UsageError` without a key. */
export function apiSettings(): { url: string; api_key: string } {
  const { url, api_key } = loadSettings()
  if (api_key === undefined) {
    throw new UsageError('LOOPTRACE_API_KEY is not set: set it to a project key')
  }
  return { url, api_key }
}

function loadSettings(): RoleConfig<'cli'> {
  try {
    return loadConfig('cli')
  } catch (error) {
    throw error instanceof ConfigError ? new UsageError(error.message) : error
  }
}

type Asked = {
  api_key: string
  stop: AbortSignal
  /** Sent as JSON with POST; without a body the request is a GET. */
  body?: unknown
}

/**
 * Asks the API and resolves with the body of its answer. Throws `UsageError` when the API refuses a
 * value, and `NoAnswer` otherwise.
 */
export async function askApi(url: URL, { api_key, stop, body }: Asked): Promise<unknown> {
  const signal = AbortSignal.any([stop, AbortSignal.timeout(answer_timeout_ms)])
  const headers = { 'x-api-key': api_key, 'content-type': 'application/json' }
  const post = { method: 'POST', headers, body: JSON.stringify(body) }
  const get = { headers: { 'x-api-key': api_key } }
  let response: Response
  try {
    response = await fetch(url, { ...(body === undefined ? get : post), signal })
  } catch (error) {
    const { message, cause } = error as Error
    throw new NoAnswer(`${url.origin}: ${cause instanceof Error ? cause.message : message}`)
  }
  const answer: unknown = await response.json().catch(() => undefined)
  if (response.ok) return answer
  const { detail, title } = (answer ?? {}) as { detail?: string; title?: string }
  const message = `${url.origin}: ${response.status} ${detail ?? title ?? response.statusText}`
  throw response.status === 400 ? new UsageError(message) : new NoAnswer(message)
}
