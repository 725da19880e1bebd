import { type Problem, problem } from '../../../../kernel/problem.ts'
import type { Clock } from '../../../../kernel/time.ts'
import type { RateLimiter } from '../../../../platform/http/index.ts'
import type { ProjectKey } from '../../../access/index.ts'
import type { OtlpDependencies } from './contract.ts'
import { problemOf } from './status-codes.ts'

/** The headers, or the metadata, in which a client may send its key. */
export type ExportCredentials = {
  api_key: string | undefined
  authorization: string | undefined
}

/** The key, or the refusal with headers that go with it. */
export type Admission =
  | { key: ProjectKey; fault?: never }
  | { key?: never; fault: Problem; headers: readonly string[] }

/** Lets a request in by its key: who it is, what it may do, how often. At once when it can. */
export type Admit = (credentials: ExportCredentials) => Admission | Promise<Admission>

/** Makes the check that HTTP and gRPC share. Its promise never rejects. */
export function createAdmission(options: {
  keys: OtlpDependencies['keys']
  limiter: RateLimiter
  clock: Clock
  stopping: () => boolean
}): Admit {
  const { keys, limiter, clock } = options
  const checked = (key: ProjectKey | undefined): Admission => {
    if (key === undefined) return refused(unknownKey())
    if (!key.scopes.has('ingest:write')) return refused(missingScope())
    const rate = limiter.take(key.key_id, clock.now_ms())
    return rate.allowed ? { key } : { fault: rate.fault, headers: rate.headers }
  }
  return (credentials) => {
    if (options.stopping()) return refused(problem('shutting_down', { retry_after_s: 1 }))
    const key = keyIn(credentials)
    if (key === undefined) return refused(noKey())
    try {
      const found = keys.authenticate(key)
      return found instanceof Promise ? found.then(checked, failed) : checked(found)
    } catch (error) {
      return failed(error)
    }
  }
}

/** An `Authorization` of another kind than Bearer may belong to a gateway on the way: it is no key. */
function keyIn({ api_key, authorization }: ExportCredentials): string | undefined {
  if (api_key !== undefined && api_key !== '') return api_key
  const bearer = /^bearer +(\S+) *$/i.exec(authorization ?? '')
  return bearer?.[1]
}

function refused(fault: Problem): Admission {
  return { fault, headers: [] }
}

function failed(error: unknown): Admission {
  return refused(problemOf(error))
}

function noKey(): Problem {
  const detail = 'no project key came: expected X-API-Key: lt_… or Authorization: Bearer lt_…'
  return problem('credentials_missing', { detail })
}

function unknownKey(): Problem {
  return problem('credentials_invalid', {
    detail: 'this is no project key that is known and valid',
  })
}

function missingScope(): Problem {
  return problem('permission_denied', { detail: 'the key lacks the scope ingest:write' })
}
