import { itemsOf, objectFrom, parsedJson, textFrom } from '../../../../kernel/json-values.ts'

/** The calls of Langfuse's API that are served, beside exports of spans. */
export type LangfuseCall = 'ingestion' | 'projects' | 'health'

/** One call, and what is called when its key is valid. */
export type LangfuseAsked = { call: LangfuseCall; authorised?: () => void }

/** The advice in answers to Langfuse's SDKs, for people who read it in a log. */
export const whatToSet =
  'Looptrace takes the traces of Langfuse SDKs by OpenTelemetry: use langfuse 3 or newer for Python, or @langfuse/otel for Node, with this host and a project key (lt_…) as the secret key'

/** The answer to a batch of the older ingestion API. */
export type IngestionAnswer = {
  successes: never[]
  /** One for each item of the batch. */
  errors: { id: string; status: 400; message: string; error: string }[]
}

/** Maximum items of a batch that are answered one by one; Langfuse's SDKs send up to 100. */
const items_max = 10_000
/** Maximum characters of an id in the answer. */
const maxIdCharacters = 256

/**
 * Answers a batch of the older ingestion API as Langfuse does (207): each item failed, with a status
 * that its SDKs do not retry. A body that is not such a batch has one error.
 */
export function answerIngestion(body: Buffer): IngestionAnswer {
  const batch = itemsOf(objectFrom(parsedJson(body.toString('utf8')))?.['batch'])
  const ids = batch
    .slice(0, items_max)
    .map((item) => textFrom(objectFrom(item)?.['id']).slice(0, maxIdCharacters))
  const message = `Nothing of this batch was stored. ${whatToSet}.`
  const errors = (ids.length === 0 ? [''] : ids).map(
    (id) => ({ id, status: 400, message, error: 'ingestion_unsupported' }) as const,
  )
  return { successes: [], errors }
}

/** An error as Langfuse's SDKs read it. */
export type LangfuseError = { message: string; error: string }

/** The answer to a check of the credentials: the one project of the key. */
export function answerProjects(project_id: string): object {
  const organization = { id: project_id, name: 'Looptrace' }
  return { data: [{ id: project_id, name: project_id, metadata: {}, organization }] }
}

/** The answer to a check of the server. Its version is not one of Langfuse. */
export const answerHealth = { status: 'OK', version: 'looptrace' }
