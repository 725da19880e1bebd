import { context, propagation } from '@opentelemetry/api'
import { OpenAIInstrumentation } from '@traceloop/instrumentation-openai'
import OpenAI from 'openai'
import { openAiCases } from './openai-cases.ts'
import { startTracing, traceCases } from './trace-cases.ts'

/** The proxy and an instrumentation see the same calls. */
const [baseURL = '', key = '', task_id = '', ...more] = process.argv.slice(2)
const sdk = startTracing()
new OpenAIInstrumentation().manuallyInstrument(OpenAI)
const client = new OpenAI({
  ...{ baseURL, apiKey: 'provider-key', maxRetries: 0 },
  defaultHeaders: { 'X-API-Key': key },
  ...(more.includes('traceparent') && { fetch: fetchInTrace }),
})
const attributes = { 'looptrace.task.id': task_id, 'user.id': 'ada' }
// The instrumentation exports no span of a refused call.
const answered = openAiCases(client, attributes).filter(({ name }) => name !== 'refused')
await traceCases(
  sdk,
  answered.map((one) => ({ ...one, attributes })),
)

/** Sends `traceparent`, as instrumentations of HTTP clients do. */
function fetchInTrace(url: string | URL | Request, init?: RequestInit): Promise<Response> {
  const headers = new Headers(init?.headers)
  propagation.inject(context.active(), headers, { set: (to, name, value) => to.set(name, value) })
  return fetch(url, { ...init, headers })
}
