import { OpenAIInstrumentation } from '@traceloop/instrumentation-openai'
import OpenAI from 'openai'
import { openAiCases } from './openai-cases.ts'
import { startTracing, traceCases } from './trace-cases.ts'

const sdk = startTracing()
new OpenAIInstrumentation().manuallyInstrument(OpenAI)
const options = { baseURL: process.argv[2] ?? '', apiKey: 'provider-key', maxRetries: 0 }
const attributes = {
  'traceloop.span.kind': 'workflow',
  'traceloop.workflow.name': 'parcel desk',
  'traceloop.association.properties.session_id': 'talk of openllmetry',
  'traceloop.association.properties.user_id': 'ada',
}
await traceCases(sdk, openAiCases(new OpenAI(options), attributes))
