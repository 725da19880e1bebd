import { OpenAIInstrumentation } from '@arizeai/openinference-instrumentation-openai'
import OpenAI from 'openai'
import { embeddingsCase } from './embeddings-case.ts'
import { openAiCases } from './openai-cases.ts'
import { startTracing, traceCases } from './trace-cases.ts'

const sdk = startTracing()
new OpenAIInstrumentation().manuallyInstrument(OpenAI)
const options = { baseURL: process.argv[2] ?? '', apiKey: 'provider-key', maxRetries: 0 }
const attributes = {
  'openinference.span.kind': 'AGENT',
  'session.id': 'talk of openinference',
  'user.id': 'ada',
}
await traceCases(sdk, [
  ...openAiCases(new OpenAI(options), attributes),
  embeddingsCase(options, attributes),
])
