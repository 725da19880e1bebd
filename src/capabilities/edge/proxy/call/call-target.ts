import { problem } from '../../../../kernel/problem.ts'
import { holdsProjectKey } from '../../../../kernel/project-key-text.ts'

/** The path, query and key of a call to its provider. */
export type CallTarget = {
  /** The path of the client, as sent. */
  readonly path: string
  /** The query with its question mark; empty without one. The intake takes keys out of it. */
  query: string
  /** The model that the path names; empty where none does, or before it is read. */
  model: string
  /** The provider's key without its scheme; empty before it is read. */
  provider_key: string
  /** The key of a key file, which answers must not show; empty for a key of the client. */
  own_key: string
}

/** Splits the URL of a request. */
export function toTarget(url = ''): CallTarget {
  const query = url.indexOf('?')
  const rest = { model: '', provider_key: '', own_key: '' }
  if (query === -1) return { path: url, query: '', ...rest }
  return { path: url.slice(0, query), query: url.slice(query), ...rest }
}

/** The start of the paths of Azure OpenAI, which name a deployment. */
const deployments = '/openai/deployments/'

/** Returns whether a path names a deployment of Azure OpenAI. */
export function isOfDeployment(path: string): boolean {
  return path.startsWith(deployments)
}

/** Returns the deployment that a path names. Throws `invalid_request` as `readPathModel` does. */
export function readDeployment(path: string): string {
  const rest = path.slice(deployments.length)
  return readPathModel(rest.slice(0, rest.indexOf('/')))
}

/**
 * Checks the id of a response in a path: `/v1/responses/{id}`, with `/cancel` or without. Throws
 * `invalid_request` as `readPathModel` does.
 */
export function checkResponseId(path: string): void {
  readPathModel(path.split('/')[3] ?? '')
}

/** Maximum characters of a model in a path. */
const maxPathModel = 256

/**
 * Returns the model that a path names in its last step, before the colon of a method. Throws
 * `invalid_request` for any other step, which could lead to another path of the provider.
 */
export function readPathModel(path: string): string {
  const step = path.slice(path.lastIndexOf('/') + 1)
  const colon = step.lastIndexOf(':')
  return readName(colon === -1 ? step : step.slice(0, colon))
}

/**
 * Checks every step of a path that goes on as it is. Throws `invalid_request` as `readPathModel`
 * does.
 */
export function checkSteps(path: string): void {
  for (const step of path.split('/').slice(1)) readName(step)
}

function readName(text: string): string {
  const model = decode(text)
  const isKey = model !== undefined && (model.startsWith('lt_') || holdsProjectKey(model))
  if (model !== undefined && !isKey && model.length <= maxPathModel && nameForm.test(model)) {
    return model
  }
  const detail = isKey
    ? 'the name in the path is a project key, expected a model or an id'
    : `the name in the path: expected at most ${maxPathModel} letters, digits, ".", "_", "-", "@" or ":"`
  throw problem('invalid_request', { detail, faults: [{ pointer: 'path', detail }] })
}

/** The first character is not a point, so that a step `..` is refused. */
const nameForm = /^[A-Za-z0-9_][\w.@:-]*$/

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
